/** Prints the figures as one table: medians, ratios to the floors of the same round, and whether goals are met. */
import { columns, median, number } from './table.mjs';

export function report({ engine, machine, seconds, rounds, measured }) {
  const figuresOf = (workload) => measured.filter((figures) => figures.workload === workload);
  const medianOf = (workload, value) =>
    median(figuresOf(workload).map(typeof value === 'string' ? (figures) => figures[value] : value));
  const workloads = [...new Set(measured.map(({ workload }) => workload))];
  /** A row of the medians of some figures, each as a value and its digits. */
  const row = (workload, cells) => [
    workload,
    ...cells.map(([value, digits]) => number(medianOf(workload, value), digits)),
  ];
  const table = [
    [
      '',
      'per second',
      'p50 ms',
      'p99 ms',
      'CPU µs',
      'database’s',
      'of HTTP floor',
      'of bare loop, one index',
      'of bare loop, this layout',
      'of SQL floor',
      'its CPU µs',
    ],
    ...workloads.map((workload) =>
      row(workload, [
        ['perSecond', 0],
        ['p50', 0],
        ['p99', 0],
        ['cpuMicroseconds', 0],
        ['databaseCpuMicroseconds', 0],
        [({ perSecond, floorPerSecond }) => perSecond / floorPerSecond, 3],
        [({ perSecond, oneIndexPerSecond }) => perSecond / oneIndexPerSecond, 3],
        [({ perSecond, layoutPerSecond }) => perSecond / layoutPerSecond, 2],
        [({ perSecond, sqlFloor }) => perSecond / sqlFloor?.perSecond, 2],
        [({ sqlFloor }) => sqlFloor?.cpuMicroseconds, 0],
      ]),
    ),
  ];
  const compared = workloads.filter((workload) => figuresOf(workload)[0].peer);
  const peers = [
    ['', 'PostGraphile’s per second', 'CPU µs', 'database’s', 'our rate ×', 'our CPU ×', 'with the database’s ×'],
    ...compared.map((workload) =>
      row(workload, [
        [({ peer }) => peer.perSecond, 0],
        [({ peer }) => peer.cpuMicroseconds, 0],
        [({ peer }) => peer.databaseCpuMicroseconds, 0],
        [({ perSecond, peer }) => perSecond / peer.perSecond, 2],
        [({ cpuMicroseconds, peer }) => cpuMicroseconds / peer.cpuMicroseconds, 2],
        [(figures) => totalCpu(figures) / totalCpu(figures.peer), 2],
      ]),
    ),
  ];
  const goals = (engine === 'SQLite' ? sqliteGoals : postgresGoals).flatMap(
    ([workload, what, value, goal, isAtMost]) => {
      if (figuresOf(workload).length === 0) return [];
      const reached = value(medianOf);
      if (!Number.isFinite(reached)) return [];
      return [
        [
          `${what}: ${isAtMost ? 'at most' : 'at least'} ${goal}`,
          number(reached, 3),
          (isAtMost ? reached <= goal : reached >= goal) ? 'met' : 'NOT MET',
        ],
      ];
    },
  );
  const isAllComplete = measured.every(({ isComplete }) => isComplete);
  const head = `${engine}, Node ${machine.node}, ${machine.cpu}; medians of ${rounds} rounds of ${seconds} s`;
  const verdict = isAllComplete
    ? 'All responses were complete, and all acknowledged records are stored.'
    : 'SOME RESPONSES WERE INCOMPLETE, OR SOME RECORDS ARE NOT STORED.';
  const tables = [table, compared.length > 0 ? peers : [], goals]
    .filter(({ length }) => length > 0)
    .flatMap((rows) => [...columns(rows), '']);
  return { text: [head, '', ...tables, verdict].join('\n'), isAllComplete };
}

const totalCpu = ({ cpuMicroseconds, databaseCpuMicroseconds }) => cpuMicroseconds + databaseCpuMicroseconds;

const ratio = (workload, floor) => (medianOf) => medianOf(workload, (figures) => figures.perSecond / figures[floor]);
const value = (workload, name) => (medianOf) => medianOf(workload, name);
const ofPeer = (workload, name) => (medianOf) => medianOf(workload, (figures) => figures[name] / figures.peer?.[name]);
const against = (workload, other) => (medianOf) => medianOf(workload, 'perSecond') / medianOf(other, 'perSecond');

/** A multiple of PostGraphile's ratio to the HTTP floor: on an idle machine, 167 queries and 3,300 lists per second. */
const linkedGoal = (times) => Number(((times * 167) / 3_300).toFixed(3));

const sharedGoals = [
  ['start', 'idle, MB', value('start', 'idleMegabytes'), 110, true],
  ['import', 'import without a preview, of plain batches', value('import', 'ofBatches'), 0.5],
  [
    'import, with its preview',
    'import with its preview, of plain batches',
    value('import, with its preview', 'ofBatches'),
    0.5,
  ],
  ['export, csv', 'export of a million as CSV, rows per second', value('export, csv', 'perSecond'), 20_000],
  ['export, ndjson', 'export of a million as NDJSON, rows per second', value('export, ndjson', 'perSecond'), 20_000],
  ['export, ndjson', 'exports need more memory, MB', value('export, ndjson', 'grownMegabytes'), 200, true],
  [
    'reads beside an export',
    'reads beside an export, of those beside long lists',
    against('reads beside an export', 'reads beside long lists'),
    0.9,
  ],
  ['W3', 'W3 at its peak, MB', value('W3', 'peakMegabytes'), 350, true],
  ['W4, million', 'W4 on a million work orders, of W4', against('W4, million', 'W4'), 0.9],
  [
    'W4, million, last page',
    'the last of a million work orders, of the first',
    against('W4, million, last page', 'W4, million, first page'),
    0.9,
  ],
  [
    'batch of 10,000',
    'others wait for a batch of 10,000, ms',
    value('batch of 10,000', 'blockedMilliseconds'),
    50,
    true,
  ],
];

const sqliteGoals = [
  ['W1', 'W1 of the HTTP floor', ratio('W1', 'floorPerSecond'), 0.16],
  ['W2', 'W2 of the bare loop, one index', ratio('W2', 'oneIndexPerSecond'), 0.25],
  ['W3', 'W3 of the bare loop, one index', ratio('W3', 'oneIndexPerSecond'), 0.35],
  ['W3, million', 'W3 into a million, of the bare loop, one index', ratio('W3, million', 'oneIndexPerSecond'), 0.35],
  ['W4', 'W4 of the HTTP floor’s lists', ratio('W4', 'floorPerSecond'), linkedGoal(3)],
  ['W4', 'W4, CPU µs per query', value('W4', 'cpuMicroseconds'), 2_000, true],
  ['W5', 'W5 of the HTTP floor', ratio('W5', 'floorPerSecond'), 0.6],
  ['feed', 'feed, changes per second', value('feed', 'perSecond'), 20_000],
  ['start', 'start, ms', value('start', 'startMilliseconds'), 500, true],
  ...sharedGoals,
];

const postgresGoals = [
  ['W1', 'W1, times PostGraphile’s rate', ofPeer('W1', 'perSecond'), 2],
  ['W3', 'W3, times PostGraphile’s rate', ofPeer('W3', 'perSecond'), 8],
  ['W4', 'W4 of the HTTP floor’s lists', ratio('W4', 'floorPerSecond'), linkedGoal(2)],
  ['W4', 'W4, times PostGraphile’s rate', ofPeer('W4', 'perSecond'), 3],
  ['W4', 'W4, part of PostGraphile’s CPU', ofPeer('W4', 'cpuMicroseconds'), 0.333, true],
  ['W5', 'W5, times PostGraphile’s rate', ofPeer('W5', 'perSecond'), 10],
  ...sharedGoals,
];
