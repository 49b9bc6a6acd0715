/** Finds one record by a value other than its ID. */
import type { Limits } from '../../../config.ts';
import { ServiceError } from '../../../errors.ts';
import type { RecordKind, RecordOf } from '../../../model/record-kind.ts';
import { emptyKeyProblem } from '../../../services/checks/unknown-ids.ts';
import { describeExternalId } from '../../../services/resolve-links.ts';
import type { Context } from '../../execution/context.ts';
import { parseArgument, refused } from '../argument.ts';

/** Returns the record with this value of a unique field, or null. Throws a ServiceError 400. */
export async function recordByValue<K extends RecordKind>(
  { loaders }: Context,
  kind: K,
  field: string,
  value: string,
  limits: Limits,
): Promise<RecordOf<K> | null> {
  const where = { field, in: [keyAt(kind, field, value, limits)] };
  const [record] = await loaders.list(kind, { where, limit: 1 });
  return record ?? null;
}

/** Returns the record with this external ID, or null. Throws a ServiceError: 400, or 409 if several records have it. */
export async function recordByExternalId<K extends RecordKind>(
  { loaders }: Context,
  kind: K,
  key: string,
  value: string,
  limits: Limits,
): Promise<RecordOf<K> | null> {
  const where = {
    field: 'externalIds',
    key: textAt('key', key, limits),
    value: keyAt(kind, 'value', value, limits),
  };
  const [record, other] = await loaders.list(kind, { where, limit: 2 });
  if (other) {
    const problem = `several ${kind.pluralLabel} have ${describeExternalId({ key, value })}`;
    throw new ServiceError(409, `${problem}: list them with where: { externalIds: { key: …, value: … } }`);
  }
  return record ?? null;
}

/** Returns the value to find a record by. Throws for an empty text, which finds none, as in upserts and links. */
function keyAt(kind: RecordKind, name: string, sent: string, limits: Limits): string {
  const problem = emptyKeyProblem(kind, sent);
  if (problem !== undefined) throw refused([name], problem);
  return textAt(name, sent, limits);
}

const textAt = (name: string, sent: string, { maxTextLength }: Limits) =>
  String(parseArgument([name], { type: 'text' }, sent, maxTextLength));
