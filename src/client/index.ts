/** What `yardgraph/client` offers. Nothing in this folder knows the server, Node or a package: it runs wherever there is `fetch`. */
export {
  ConnectionError,
  type FailingItem,
  GraphqlError,
  type GraphqlErrorItem,
  PartialBatchError,
  ServiceError,
  TimeoutError,
  UnexpectedAnswerError,
  YardgraphError,
} from './errors.ts';
export type * from './openapi.ts';
export type { ApiKey, Options } from './options.ts';
export { type CreateOptions, Yardgraph } from './yardgraph.ts';
