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
export type { ApiKey, Options, WriteOptions } from './options.ts';
export {
  type BatchOptions,
  type ChangeRange,
  type ChangesOptions,
  type CreateOptions,
  type DeleteOptions,
  type ExportedFile,
  type ExportedRow,
  type ExportFileOptions,
  type ExportOptions,
  type ImportOptions,
  type ImportRecordsOptions,
  type ImportResult,
  type ImportRow,
  type Reconnect,
  type Rejected,
  type RevertOptions,
  type Upserted,
  type UpsertOptions,
  Yardgraph,
} from './yardgraph.ts';
