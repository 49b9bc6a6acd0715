/** The documents of mutations, for any kind. */
import type { RecordKind } from '../../src/model/record-kind.ts';

export const createDocument = ({ name, plural }: RecordKind, fields = 'id') =>
  `mutation ($input: [Create${name}Input!]!, $dryRun: Boolean! = false) { result: create${plural}(input: $input, dryRun: $dryRun) { ${fields} } }`;

export const updateDocument = ({ name, plural }: RecordKind, fields = 'id') =>
  `mutation ($input: [${name}Patch!]!, $dryRun: Boolean! = false) { result: update${plural}(input: $input, dryRun: $dryRun) { ${fields} } }`;

export const deleteDocument = ({ name, plural }: RecordKind, fields = 'id') =>
  `mutation ($ids: [ID!], $by: ${name}Key, $keys: [String!], $references: ReferenceHandling! = REFUSE, $dryRun: Boolean! = false) {
    result: delete${plural}(ids: $ids, by: $by, keys: $keys, references: $references, dryRun: $dryRun) { ${fields} } }`;

export const upsertDocument = ({ name, plural }: RecordKind, fields = 'outcome record { id }') =>
  `mutation ($by: ${name}Key!, $input: [Upsert${name}Input!]!, $onInvalid: OnInvalid! = FAIL, $dryRun: Boolean! = false) {
    result: upsert${plural}(by: $by, input: $input, onInvalid: $onInvalid, dryRun: $dryRun) { ${fields} } }`;

export const importDocument = (fields = 'locations { id }') =>
  `mutation ($input: ImportInput!, $by: ImportKeys, $onInvalid: OnInvalid! = FAIL, $dryRun: Boolean! = false) {
    result: importRecords(input: $input, by: $by, onInvalid: $onInvalid, dryRun: $dryRun) { ${fields} } }`;
