/**
 * The metrics of the process, in Prometheus' text format. Own code: the last release of prom-client is of June 2024, it
 * is to be deprecated, and its successor is not published. No label may grow with workspaces, users or texts of
 * clients.
 */
type Samples = readonly (readonly [suffixWithLabels: string, value: number])[];

export type Metric = readonly [
  type: 'counter' | 'gauge' | 'histogram',
  name: string,
  help: string,
  samples: () => Samples,
];

export const metricsText = (metrics: readonly Metric[]): string =>
  metrics
    .map(([type, name, help, samples]) => {
      const lines = samples().map(([suffix, value]) => `yardgraph_${name}${suffix} ${value}\n`);
      return `# HELP yardgraph_${name} ${help}\n# TYPE yardgraph_${name} ${type}\n${lines.join('')}`;
    })
    .join('');

function createHistogram(name: string, help: string, limits: readonly number[]) {
  const series = new Map<string, { readonly buckets: number[]; sum: number }>();
  const samples = (): Samples =>
    [...series].flatMap(([labels, { buckets, sum }]) => {
      let count = 0;
      const lines = [...limits, '+Inf'].map((limit, index) => {
        count += buckets[index] ?? 0;
        return [`_bucket{${labels}le="${limit}"}`, count] as const;
      });
      return [...lines, [`_sum{${labels}}`, sum] as const, [`_count{${labels}}`, count] as const];
    });
  /** Labels end with a comma, such as `status="200",`. */
  const observe = (value: number, labels = ''): void => {
    const found = series.get(labels) ?? { buckets: [], sum: 0 };
    series.set(labels, found);
    found.sum += value;
    const bucket = limits.findIndex((limit) => value <= limit);
    const index = bucket < 0 ? limits.length : bucket;
    found.buckets[index] = (found.buckets[index] ?? 0) + 1;
  };
  return { observe, metric: ['histogram', name, help, samples] as Metric };
}

const seconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export const requestTimes = createHistogram(
  'http_request_duration_seconds',
  'Time of HTTP requests without event streams. The status "closed": the client left before the end.',
  seconds,
);
export const statementTimes = createHistogram('sql_statement_duration_seconds', 'Time of SQL statements.', seconds);
export const groupSizes = createHistogram('write_group_size', 'Writes that share a commit.', [1, 2, 4, 8, 16, 32, 64]);
export const eventLoopLag = createHistogram('event_loop_lag_seconds', 'Delay of a timer of 100 ms.', seconds);
export const histograms = [requestTimes, statementTimes, groupSizes, eventLoopLag].map(({ metric }) => metric);

export const cacheLookups = { hit: 0, miss: 0 };

/** The timers of requests that wait for a connection or for their turn. */
export const waits = new Set<NodeJS.Timeout>();

/** Open subscriptions, with the time of the first change that is read and not sent. */
export const followers = new Set<{ unsentSince: number | undefined }>();
