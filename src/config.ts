/** The settings of the service, from the environment. Every problem is named at once, before anything is opened. */
import { z } from 'zod';
import { StartError } from './errors.ts';
import type { ValueLimits } from './model/schemas.ts';
import { defaultOptions, isDatabaseUrl } from './store/database.ts';
import type { DatabaseOptions } from './store/driver.ts';

/** What one request may hold (decisions: "Limits"). */
export interface Limits extends ValueLimits {
  readonly maxBodyBytes: number;
  readonly maxBatch: number;
  /** Levels of arrays and objects within one another. */
  readonly maxNesting: number;
  /** Characters of a GraphQL document. */
  readonly maxQueryLength: number;
  /** Tokens of a GraphQL document. */
  readonly maxTokens: number;
  /** Fields of a GraphQL document that are given another name. */
  readonly maxAliases: number;
  /** Directives in a GraphQL document. */
  readonly maxDirectives: number;
  /** Levels of a GraphQL document, fragments included. */
  readonly maxDepth: number;
  /** Fields of a GraphQL operation, times the sizes of the lists they are in. */
  readonly maxCost: number;
  /** Characters of texts and external ids in an answer of GraphQL. */
  readonly maxResponseLength: number;
  /** Records of a page of a GraphQL connection, and ids of `nodes`. */
  readonly maxPageSize: number;
}

/** What a connection may take. Times are in milliseconds. */
export interface HttpLimits {
  readonly maxHeaderBytes: number;
  readonly maxConnections: number;
  /** To send all headers. */
  readonly headerTimeout: number;
  /** To send all of a request. */
  readonly requestTimeout: number;
}

export interface Config {
  readonly host: string;
  /** Who is let in while there are no keys: nobody, whoever is on this machine, or whoever reaches the port. */
  readonly openAccess: 'no' | 'loopback' | 'anyone';
  /** Of one key; 0 sets no limit. */
  readonly requestsPerMinute: number;
  /** From one address; 0 sets no limit. */
  readonly failedLoginsPerMinute: number;
  readonly port: number;
  readonly databaseUrl: string;
  readonly databaseOptions: DatabaseOptions;
  readonly logLevel: string;
  /** Whether a browser gets GraphiQL at /graphql. */
  readonly graphiql: boolean;
  /** Whether GraphQL tells its schema. */
  readonly introspection: boolean;
  /** Whether GraphQL guesses what was meant. */
  readonly suggestions: boolean;
  /** Pages from elsewhere that may call the service from a browser. */
  readonly corsOrigins: readonly string[];
  readonly http: HttpLimits;
  readonly limits: Limits;
}

/** In plain words, so that nobody sets it by chance. */
const openToAnyone = 'yes-anyone-who-can-reach-this-port';

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

const whole = (min: number, max: number) => {
  const error = `expected a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d+$/, { error })
    .transform(Number)
    .pipe(z.number().min(min, { error }).max(max, { error }));
};

const oneOf = <const T extends readonly string[]>(values: T) =>
  z.enum(values, { error: `expected one of ${values.join(', ')}` });

/** As browsers send it: no path, no default port, no capital letters, no pattern. */
const isOrigin = (text: string): boolean =>
  /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;

/** Unless said, on everywhere but in production. */
const onOrOff = oneOf(['on', 'off']).optional();

const environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: whole(0, 65_535).default(4000),
  ALLOW_OPEN_ACCESS: oneOf(['no', openToAnyone]).default('no'),
  RATE_LIMIT: whole(0, 1_000_000_000).default(0),
  FAILED_LOGIN_LIMIT: whole(0, 1_000_000_000).default(0),
  DATABASE_URL: z
    .string()
    .refine(isDatabaseUrl, {
      error: 'expected sqlite:PATH, sqlite::memory: or postgres://USER:PASSWORD@HOST:PORT/DATABASE',
    })
    .default('sqlite:data/yardgraph.db'),
  DATABASE_POOL_SIZE: whole(1, 1_000).default(defaultOptions.poolSize),
  DATABASE_CONNECTION_TIMEOUT: whole(100, 600_000).default(defaultOptions.connectionTimeout),
  DATABASE_STATEMENT_TIMEOUT: whole(100, 86_400_000).default(defaultOptions.statementTimeout),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  NODE_ENV: oneOf(['development', 'production', 'test']).default('development'),
  GRAPHIQL: onOrOff,
  INTROSPECTION: onOrOff,
  SUGGESTIONS: onOrOff,
  CORS_ORIGINS: z
    .string()
    .refine((text) => text.split(',').every(isOrigin), {
      error: 'expected origins such as https://app.example.com, separated by commas',
    })
    .optional(),
  MAX_HEADER_BYTES: whole(1_024, 1_048_576).default(16_384),
  MAX_CONNECTIONS: whole(1, 1_000_000).default(10_000),
  HEADER_TIMEOUT: whole(100, 3_600_000).default(10_000),
  REQUEST_TIMEOUT: whole(100, 3_600_000).default(120_000),
  MAX_BODY_BYTES: whole(1_024, 1_073_741_824).default(10 * 1_048_576),
  MAX_BATCH: whole(1, 1_000_000).default(10_000),
  MAX_NESTING: whole(3, 1_000).default(32),
  MAX_TEXT_LENGTH: whole(1, 10_000_000).default(10_000),
  MAX_EXTERNAL_IDS: whole(0, 100_000).default(100),
  MAX_RECORD_LENGTH: whole(1, 1_000_000_000).default(200_000),
  MAX_QUERY_LENGTH: whole(1_000, 10_000_000).default(100_000),
  MAX_QUERY_TOKENS: whole(100, 100_000).default(2_000),
  MAX_QUERY_ALIASES: whole(0, 100_000).default(50),
  MAX_QUERY_DIRECTIVES: whole(0, 100_000).default(50),
  MAX_QUERY_DEPTH: whole(5, 200).default(20),
  MAX_QUERY_COST: whole(1_000, 1_000_000_000).default(500_000),
  MAX_RESPONSE_LENGTH: whole(1_000, 500_000_000).default(50_000_000),
  MAX_PAGE_SIZE: whole(1, 100_000).default(1_000),
});

/** The names of all settings, in the README's order. */
export const settingNames: readonly string[] = Object.keys(environment.shape);

/** Reads the settings. Throws a StartError that names every setting that is wrong. */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  // An empty variable is an unset one: compose files and shells write both.
  const sent = Object.fromEntries(settingNames.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  const result = environment.safeParse(sent);
  if (!result.success) {
    const problems = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new StartError(problems.join('\n'));
  }
  const settings = result.data;
  if (!sent.MAX_RECORD_LENGTH && settings.MAX_RECORD_LENGTH < settings.MAX_TEXT_LENGTH) {
    throw new StartError(`MAX_RECORD_LENGTH: expected at least MAX_TEXT_LENGTH, which is ${settings.MAX_TEXT_LENGTH}`);
  }
  return {
    host: settings.HOST,
    openAccess: openAccess(settings),
    requestsPerMinute: settings.RATE_LIMIT,
    failedLoginsPerMinute: settings.FAILED_LOGIN_LIMIT,
    port: settings.PORT,
    databaseUrl: settings.DATABASE_URL,
    databaseOptions: {
      poolSize: settings.DATABASE_POOL_SIZE,
      connectionTimeout: settings.DATABASE_CONNECTION_TIMEOUT,
      statementTimeout: settings.DATABASE_STATEMENT_TIMEOUT,
    },
    logLevel: settings.LOG_LEVEL,
    graphiql: isOn(settings.GRAPHIQL, settings),
    introspection: isOn(settings.INTROSPECTION, settings),
    suggestions: isOn(settings.SUGGESTIONS, settings),
    corsOrigins: settings.CORS_ORIGINS?.split(',') ?? [],
    http: {
      maxHeaderBytes: settings.MAX_HEADER_BYTES,
      maxConnections: settings.MAX_CONNECTIONS,
      headerTimeout: settings.HEADER_TIMEOUT,
      requestTimeout: settings.REQUEST_TIMEOUT,
    },
    limits: {
      maxBodyBytes: settings.MAX_BODY_BYTES,
      maxBatch: settings.MAX_BATCH,
      maxNesting: settings.MAX_NESTING,
      maxTextLength: settings.MAX_TEXT_LENGTH,
      maxExternalIds: settings.MAX_EXTERNAL_IDS,
      maxRecordLength: settings.MAX_RECORD_LENGTH,
      maxQueryLength: settings.MAX_QUERY_LENGTH,
      maxTokens: settings.MAX_QUERY_TOKENS,
      maxAliases: settings.MAX_QUERY_ALIASES,
      maxDirectives: settings.MAX_QUERY_DIRECTIVES,
      maxDepth: settings.MAX_QUERY_DEPTH,
      maxCost: settings.MAX_QUERY_COST,
      maxResponseLength: settings.MAX_RESPONSE_LENGTH,
      maxPageSize: settings.MAX_PAGE_SIZE,
    },
  };
}

function openAccess({ HOST, ALLOW_OPEN_ACCESS }: { HOST: string; ALLOW_OPEN_ACCESS: string }): Config['openAccess'] {
  if (ALLOW_OPEN_ACCESS === openToAnyone) return 'anyone';
  return loopback.test(HOST) ? 'loopback' : 'no';
}

const isOn = (setting: 'on' | 'off' | undefined, { NODE_ENV }: { NODE_ENV: string }): boolean =>
  setting === undefined ? NODE_ENV !== 'production' : setting === 'on';
