/** Reports every invalid setting before anything is opened. */
import { isIP } from 'node:net';
import { closest, distance } from 'fastest-levenshtein';
import ms from 'ms';
import * as z from 'zod';
import { StartError } from './errors.ts';
import { databaseUrlProblem, defaultOptions, defaultPath } from './store/database-settings.ts';

const setting = <T>(name: string, schema: z.ZodType<T>, defaultValue: NoInfer<T>) => ({ name, schema, defaultValue });

type Setting<T> = ReturnType<typeof setting<T>>;

const wholeNumber = (min: number, max: number) => {
  const error = `expected a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d+$/, { error })
    .transform(Number)
    .pipe(z.number().min(min, { error }).max(max, { error }));
};

/** Not every database supports later dates. */
const maxDurationMs = ms('1000y');

const durationForm = { error: 'expected a duration greater than zero, such as 90d, 12h or 30m' };

/** In milliseconds. */
export const duration = z
  .string()
  .transform((text) => (/^\d+ ?[a-z]+$/i.test(text) ? ms(text as ms.StringValue) : undefined))
  .pipe(z.number(durationForm).positive(durationForm).max(maxDurationMs, durationForm));

const oneOf = <const T extends readonly string[]>(values: T) =>
  z.enum(values, { error: `expected one of ${values.join(', ')}` });

/** In plain words, so that nobody sets it by accident. */
const openToAnyone = 'yes-anyone-who-can-reach-this-port';

const databaseUrl = z.string().superRefine((text, context) => {
  const problem = databaseUrlProblem(text);
  if (problem !== undefined) context.addIssue(problem);
});

/** An address of another machine, or an unknown name, fails only when the service listens. */
const host = z.string().refine((text) => isIP(text) !== 0 || /^(?!-)(?![\d.]+$)[a-z0-9_.-]{1,253}$/i.test(text), {
  error: 'expected an IP address or a host name',
});

/** Browsers send origins without path, default port and upper case. */
const isOrigin = (text: string): boolean =>
  /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;

const origins = z
  .string()
  .transform((text) => text.split(','))
  .refine((list) => list.every(isOrigin), {
    error: 'expected origins such as https://app.example.com, separated by commas',
  });

const isProxy = (text: string): boolean => {
  const [address = '', bits = '0', ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0) return ['loopback', 'linklocal', 'uniquelocal'].includes(text);
  return more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
};

const proxies = z
  .string()
  .transform((text) => text.split(',').map((proxy) => proxy.trim()))
  .refine((list) => list.every(isProxy), {
    error: 'expected addresses, ranges such as 10.0.0.0/8, or loopback, linklocal or uniquelocal, separated by commas',
  });

/** Not a header that authenticates otherwise. nginx drops names with an underscore. */
const userHeader = z
  .string()
  .toLowerCase()
  .regex(/^(?!authorization$|x-api-key$|x-remote-user-secret$)[a-z][a-z\d-]*$/, {
    error: 'expected the name of a header such as X-Remote-User',
  });

const secret = z
  .string()
  .regex(/^[!-~]{32,255}$/, { error: 'expected 32 to 255 printable ASCII characters, no spaces' });

/** A source, and after a space the credit that the map must show. */
const tiles = z
  .string()
  .transform((text) => {
    const [source = '', ...credit] = text.split(' ');
    return { source, credit: credit.join(' ') };
  })
  .refine(
    ({ source }) =>
      /^https?:\/\/[\w.-]+(?::\d+)?\/(?:(?=.*\{z\})(?=.*\{x\})(?=.*\{y\})|.*\.pmtiles$)/.test(source) ||
      /^(?!\w+:\/\/).+\.pmtiles$/.test(source),
    {
      error:
        'expected a URL with {z}, {x} and {y}, such as https://tiles.example.com/{z}/{x}/{y}.png, or a path or a URL that ends with .pmtiles',
    },
  );

// docs/settings.md explains each setting; a test checks that it lists the same names in the same order.

const service = {
  host: setting('HOST', host, '127.0.0.1'),
  port: setting('PORT', wholeNumber(0, 65_535), 4000),
  allowOpenAccess: setting('ALLOW_OPEN_ACCESS', oneOf(['loopback', 'no', openToAnyone]), 'loopback'),
  requestsPerMinute: setting('RATE_LIMIT', wholeNumber(0, 1_000_000_000), 0),
  failedLoginsPerMinute: setting('FAILED_LOGIN_LIMIT', wholeNumber(0, 1_000_000_000), 0),
  trustedProxies: setting('TRUSTED_PROXIES', proxies, []),
  remoteUserHeader: setting('REMOTE_USER_HEADER', userHeader.optional(), undefined),
  remoteUserSecret: setting('REMOTE_USER_SECRET', secret.optional(), undefined),
  databaseUrl: setting('DATABASE_URL', databaseUrl, `sqlite:${defaultPath}`),
  logRetention: setting('LOG_RETENTION', duration.optional(), undefined),
};

/** Times are in milliseconds. */
const databaseOptions = {
  poolSize: setting('DATABASE_POOL_SIZE', wholeNumber(1, 1_000), defaultOptions.poolSize),
  connectionTimeout: setting(
    'DATABASE_CONNECTION_TIMEOUT',
    wholeNumber(100, 600_000),
    defaultOptions.connectionTimeout,
  ),
  statementTimeout: setting(
    'DATABASE_STATEMENT_TIMEOUT',
    wholeNumber(100, 86_400_000),
    defaultOptions.statementTimeout,
  ),
};

const visibility = {
  logLevel: setting('LOG_LEVEL', oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']), 'info'),
  slowRequestMs: setting('SLOW_REQUEST', wholeNumber(1, 86_400_000), 1_000),
  metricsHost: setting('METRICS_HOST', host, '127.0.0.1'),
  metricsPort: setting('METRICS_PORT', wholeNumber(0, 65_535).optional(), undefined),
  backupDir: setting('BACKUP_DIR', z.string().optional(), undefined),
  environment: setting('NODE_ENV', oneOf(['development', 'production', 'test']), 'development'),
  graphiql: setting('GRAPHIQL', oneOf(['on', 'off']).optional(), undefined),
  explorer: setting('EXPLORER', oneOf(['on', 'off']), 'on'),
  mapTiles: setting('MAP_TILES', tiles.optional(), undefined),
  introspection: setting('INTROSPECTION', oneOf(['on', 'off']).optional(), undefined),
  corsOrigins: setting('CORS_ORIGINS', origins, []),
};

/** Times are in milliseconds. */
const http = {
  maxConnections: setting('MAX_CONNECTIONS', wholeNumber(1, 1_000_000), 10_000),
  requestTimeout: setting('REQUEST_TIMEOUT', wholeNumber(100, 3_600_000), 120_000),
};

const fixedHttp = {
  maxHeaderBytes: 16_384,
  headerTimeout: 10_000,
  exportTimeout: 100_000,
};

const limits = {
  maxBodyBytes: setting('MAX_BODY_BYTES', wholeNumber(1_024, 1_073_741_824), 10 * 1_048_576),
  maxBatch: setting('MAX_BATCH', wholeNumber(1, 1_000_000), 10_000),
  maxTextLength: setting('MAX_TEXT_LENGTH', wholeNumber(1, 10_000_000), 10_000),
  maxExternalIds: setting('MAX_EXTERNAL_IDS', wholeNumber(0, 100_000), 100),
  maxRecordLength: setting('MAX_RECORD_LENGTH', wholeNumber(1, 1_000_000_000), 200_000),
  maxDepth: setting('MAX_QUERY_DEPTH', wholeNumber(5, 200), 20),
  maxCost: setting('MAX_QUERY_COST', wholeNumber(1_000, 1_000_000_000), 500_000),
  maxResponseLength: setting('MAX_RESPONSE_LENGTH', wholeNumber(1_000, 500_000_000), 50_000_000),
  maxPageSize: setting('MAX_PAGE_SIZE', wholeNumber(1, 100_000), 1_000),
};

const fixedLimits = {
  /** Nested arrays and objects in JSON, brackets in a GraphQL document. */
  maxNesting: 32,
  maxQueryLength: 100_000,
  maxTokens: 2_000,
  maxAliases: 50,
};

type Group = Readonly<Record<string, Setting<unknown>>>;
type ValuesOf<G extends Group> = { readonly [Key in keyof G]: G[Key] extends Setting<infer T> ? T : never };

export type Limits = ValuesOf<typeof limits> & Readonly<typeof fixedLimits>;

export type Config = Readonly<ReturnType<typeof loadConfig>>;

export const settingNames: readonly string[] = [service, databaseOptions, visibility, http, limits].flatMap(
  (group: Group) => Object.values(group).map(({ name }) => name),
);

/** HOST and PORT are too short to tell. */
const warnOfMisspelt = (env: Environment): string[] =>
  Object.keys(env).flatMap((name) => {
    const guess = closest(name, settingNames);
    const isNear = guess.length > 4 && guess !== name && distance(name, guess) < 3;
    return isNear ? `unknown setting ${name}, did you mean ${guess}?` : [];
  });

export type Environment = Readonly<Record<string, string | undefined>>;

export function loadConfig(env: Environment) {
  const problems: string[] = [];
  const { allowOpenAccess, ...serviceValues } = readGroup(service, env, problems);
  const databaseValues = readGroup(databaseOptions, env, problems);
  const { environment, graphiql, explorer, introspection, ...visible } = readGroup(visibility, env, problems);
  const httpValues = readGroup(http, env, problems);
  const limitValues = readGroup(limits, env, problems);
  const { remoteUserHeader, remoteUserSecret, trustedProxies } = serviceValues;
  if (remoteUserHeader !== undefined && (remoteUserSecret === undefined || trustedProxies.length === 0)) {
    problems.push('REMOTE_USER_HEADER: expected with REMOTE_USER_SECRET and TRUSTED_PROXIES');
  }
  if (problems.length > 0) throw new StartError(problems.join('\n'));

  const isOn = (feature = environment === 'production' ? 'off' : 'on'): boolean => feature === 'on';
  const openAccess: 'no' | 'loopback' | 'anyone' =
    allowOpenAccess === openToAnyone ? 'anyone' : isLoopback(serviceValues.host) ? allowOpenAccess : 'no';
  return {
    ...serviceValues,
    ...visible,
    openAccess,
    warnings: warnOfMisspelt(env),
    databaseOptions: databaseValues,
    graphiql: isOn(graphiql),
    explorer: isOn(explorer),
    introspection: isOn(introspection),
    /** GraphQL errors suggest names of the schema only to clients that may read it. */
    suggestions: isOn(introspection),
    http: { ...httpValues, ...fixedHttp },
    limits: { ...limitValues, ...fixedLimits },
  };
}

/** An invalid setting is undefined, and adds a line to `problems`. */
function readGroup<G extends Group>(group: G, env: Environment, problems: string[]): ValuesOf<G> {
  const values: Record<string, unknown> = {};
  for (const [key, { name, schema, defaultValue }] of Object.entries(group)) {
    // An empty variable counts as unset: compose files and shells write both.
    const text = env[name];
    const result = text ? schema.safeParse(text) : undefined;
    values[key] = result ? result.data : defaultValue;
    for (const { message } of result?.error?.issues ?? []) problems.push(`${name}: ${message}`);
  }
  // Safe: loadConfig throws if any value is invalid.
  return values as ValuesOf<G>;
}

export const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
