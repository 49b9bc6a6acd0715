/** Places on a sphere. What is near comes first in test/graphql/query-model.test.ts, and distances are in test/pages/graphiql-tabs.test.ts. */
import { expect, test } from 'vitest';
import { unitVector } from '../../src/model/places.ts';

test('all longitudes of a pole are one place, and so are both sides of the antimeridian', () => {
  const at = (latitude: number, longitude: number) => unitVector({ latitude, longitude }).map((part) => part + 0);
  expect(at(90, -179.9)).toEqual(at(90, 8.8));
  expect(at(-53.08, 180)).toEqual(at(-53.08, -180));
});
