/** What the tests use of @graphql-hive/gateway-runtime. Its own types declare members of graphql's that graphql does not have. */
interface Plugin {
  readonly onFetch: (payload: { readonly url: string; readonly options: RequestInit }) => void;
}

interface Gateway extends AsyncDisposable {
  readonly fetch: typeof fetch;
}

export function createGatewayRuntime(config: {
  /** The composed schema. */
  readonly supergraph: string;
  readonly logging: false;
  readonly propagateHeaders: {
    readonly fromClientToSubgraphs: (payload: { readonly request: Request }) => Record<string, string>;
  };
  readonly plugins: () => readonly Plugin[];
}): Gateway;
