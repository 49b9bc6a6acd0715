/** What the explorer knows of the schema. */
import { readKinds } from '../../src/explorer/build.mjs';

export default readKinds();
