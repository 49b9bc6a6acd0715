/**
 * The public API of `@yardgraph/client`. Nothing in this folder may import the server, Node modules or packages: it runs
 * wherever `fetch` exists.
 */
export {
  ConnectionError,
  type FailingItem,
  GraphqlError,
  type GraphqlErrorItem,
  PartialBatchError,
  ServiceError,
  TimeoutError,
  UnexpectedResponseError,
  YardgraphError,
} from './errors.ts';
export type * from './graphql-types.ts';
export type * from './openapi.ts';
export type { ChangeRange, ChangesOptions, Reconnect, RevertOptions } from './operations/changes.ts';
export type { ExportedFile, ExportedRow, ExportFileOptions, ExportOptions } from './operations/export.ts';
export type { ImportOptions, ImportResult, ImportRow } from './operations/import.ts';
export type {
  BatchOptions,
  DeleteOptions,
  ImportRecordsOptions,
  Rejected,
  Upserted,
  UpsertOptions,
} from './operations/records.ts';
export type { ApiKey, Options, WriteOptions } from './options.ts';
export type { PartOptions as CreateOptions } from './parts.ts';
export { Yardgraph } from './yardgraph.ts';
