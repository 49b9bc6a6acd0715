/**
 * The public API of `@yardgraph/client`, which imports nothing of the service, Node or packages: it runs wherever
 * `fetch` exists.
 */
export type { ChangeRange, ChangesOptions, Reconnect, RevertOptions } from './changes.ts';
export {
  ConnectionError,
  type FailingItem,
  GraphqlError,
  type GraphqlErrorItem,
  ServiceError,
  TimeoutError,
  UnexpectedResponseError,
  YardgraphError,
} from './errors.ts';
export type { ExportedFile, ExportedRow, ExportFileOptions, ExportOptions } from './export.ts';
export type * from './graphql-types.ts';
export type { ImportOptions, ImportRecordsOptions, ImportResult, ImportRow } from './import.ts';
export type * from './openapi.ts';
export type { ApiKey, Options, WriteOptions } from './options.ts';
export { PartialBatchError, type PartOptions as CreateOptions } from './parts.ts';
export type { BatchOptions, ClashOptions, DeleteOptions, Rejected, Upserted, UpsertOptions } from './records.ts';
export { Yardgraph } from './yardgraph.ts';
