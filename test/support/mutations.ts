/** The documents of mutations, for any kind. */
import type { RecordKind } from '../../src/model/record-kind.ts';

const declaredClash = ({ occupies }: Pick<RecordKind, 'occupies'>) => (occupies ? ', $onClash: OnClash! = STORE' : '');
const passedClash = ({ occupies }: Pick<RecordKind, 'occupies'>) => (occupies ? ', onClash: $onClash' : '');

export const createDocument = (kind: RecordKind, fields = 'id') =>
  `mutation ($input: [Create${kind.name}Input!]!, $dryRun: Boolean! = false${declaredClash(kind)}) {
    result: create${kind.plural}(input: $input, dryRun: $dryRun${passedClash(kind)}) { ${fields} } }`;

export const updateDocument = (kind: RecordKind, fields = 'id') =>
  `mutation ($input: [${kind.name}Patch!]!, $dryRun: Boolean! = false${declaredClash(kind)}) {
    result: update${kind.plural}(input: $input, dryRun: $dryRun${passedClash(kind)}) { ${fields} } }`;

export const deleteDocument = ({ name, plural }: RecordKind, fields = 'id') =>
  `mutation ($ids: [ID!], $by: ${name}Key, $keys: [String!], $references: ReferenceHandling! = REFUSE, $dryRun: Boolean! = false) {
    result: delete${plural}(ids: $ids, by: $by, keys: $keys, references: $references, dryRun: $dryRun) { ${fields} } }`;

export const upsertDocument = (kind: RecordKind, fields = 'outcome record { id }') =>
  `mutation ($by: ${kind.name}Key!, $input: [Upsert${kind.name}Input!]!, $onInvalid: OnInvalid! = FAIL, $dryRun: Boolean! = false${declaredClash(kind)}) {
    result: upsert${kind.plural}(by: $by, input: $input, onInvalid: $onInvalid, dryRun: $dryRun${passedClash(kind)}) { ${fields} } }`;

export const importDocument = (fields = 'locations { id }') =>
  `mutation ($input: ImportInput!, $by: ImportKeys, $onInvalid: OnInvalid! = FAIL, $onClash: OnClash! = STORE, $dryRun: Boolean! = false) {
    result: importRecords(input: $input, by: $by, onInvalid: $onInvalid, onClash: $onClash, dryRun: $dryRun) { ${fields} } }`;
