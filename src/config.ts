/** The settings of the service, from the environment. Every problem is named at once, before anything is opened. */
import { z } from 'zod';
import { StartError } from './errors.ts';
import type { ValueLimits } from './model/schemas.ts';
import { defaultOptions, isDatabaseUrl } from './store/database.ts';
import type { DatabaseOptions } from './store/engine.ts';

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
  /** Levels of a GraphQL document, fragments included. */
  readonly maxDepth: number;
  /** Fields of a GraphQL operation, times the sizes of the lists they are in. */
  readonly maxCost: number;
}

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  readonly databaseOptions: DatabaseOptions;
  readonly logLevel: string;
  /** Whether a browser gets GraphiQL at /graphql. */
  readonly graphiql: boolean;
  readonly limits: Limits;
}

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

const environment = z.object({
  HOST: z
    .string()
    .regex(loopback, {
      error: 'expected a loopback address such as 127.0.0.1: without keys the service is open to whoever reaches it',
    })
    .default('127.0.0.1'),
  PORT: whole(0, 65_535).default(4000),
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
  GRAPHIQL: oneOf(['on', 'off']).default('on'),
  MAX_BODY_BYTES: whole(1_024, 1_073_741_824).default(10 * 1_048_576),
  MAX_BATCH: whole(1, 1_000_000).default(10_000),
  MAX_NESTING: whole(3, 1_000).default(32),
  MAX_TEXT_LENGTH: whole(1, 10_000_000).default(10_000),
  MAX_EXTERNAL_IDS: whole(0, 100_000).default(100),
  MAX_QUERY_LENGTH: whole(1_000, 10_000_000).default(100_000),
  MAX_QUERY_TOKENS: whole(100, 100_000).default(2_000),
  MAX_QUERY_DEPTH: whole(5, 200).default(20),
  MAX_QUERY_COST: whole(1_000, 1_000_000_000).default(500_000),
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
  return {
    host: settings.HOST,
    port: settings.PORT,
    databaseUrl: settings.DATABASE_URL,
    databaseOptions: {
      poolSize: settings.DATABASE_POOL_SIZE,
      connectionTimeout: settings.DATABASE_CONNECTION_TIMEOUT,
      statementTimeout: settings.DATABASE_STATEMENT_TIMEOUT,
    },
    logLevel: settings.LOG_LEVEL,
    graphiql: settings.GRAPHIQL === 'on',
    limits: {
      maxBodyBytes: settings.MAX_BODY_BYTES,
      maxBatch: settings.MAX_BATCH,
      maxNesting: settings.MAX_NESTING,
      maxTextLength: settings.MAX_TEXT_LENGTH,
      maxExternalIds: settings.MAX_EXTERNAL_IDS,
      maxQueryLength: settings.MAX_QUERY_LENGTH,
      maxTokens: settings.MAX_QUERY_TOKENS,
      maxDepth: settings.MAX_QUERY_DEPTH,
      maxCost: settings.MAX_QUERY_COST,
    },
  };
}
