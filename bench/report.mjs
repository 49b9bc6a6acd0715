/** Prints the figures as one table: medians, ratios to the floors of the same round, and whether goals are met. */

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

export function report({ engine, machine, seconds, rounds, measured }) {
  const figuresOf = (workload) => measured.filter((figures) => figures.workload === workload);
  const medianOf = (workload, value) =>
    median(figuresOf(workload).map(typeof value === 'string' ? (figures) => figures[value] : value));
  const workloads = [...new Set(measured.map(({ workload }) => workload))];
  const table = [['', 'per second', 'p50 ms', 'p99 ms', 'CPU µs', 'of HTTP floor', 'of bare loop']];
  for (const workload of workloads) {
    const whole = (name) => number(medianOf(workload, name), 0);
    table.push([
      workload,
      whole('perSecond'),
      whole('p50'),
      whole('p99'),
      whole('cpuMicroseconds'),
      number(
        medianOf(workload, (figures) => figures.perSecond / figures.floorPerSecond),
        3,
      ),
      number(
        medianOf(workload, (figures) => figures.perSecond / figures.barePerSecond),
        2,
      ),
    ]);
  }
  const goals = (engine === 'SQLite' ? sqliteGoals : postgresGoals).flatMap(
    ([workload, what, value, goal, isAtMost]) => {
      if (figuresOf(workload).length === 0) return [];
      const reached = value(medianOf);
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
  return { text: [head, '', ...columns(table), '', ...columns(goals), '', verdict].join('\n'), isAllComplete };
}

const ratio = (workload, floor) => (medianOf) => medianOf(workload, (figures) => figures.perSecond / figures[floor]);
const value = (workload, name) => (medianOf) => medianOf(workload, name);
const against = (workload, other) => (medianOf) => medianOf(workload, 'perSecond') / medianOf(other, 'perSecond');

/** A multiple of PostGraphile's ratio to the HTTP floor: on an idle machine, 167 queries and 3,300 lists per second. */
const linkedGoal = (times) => Number(((times * 167) / 3_300).toFixed(3));

const sharedGoals = [
  ['W7 linked', 'W7 linked of W4', against('W7 linked', 'W4'), 0.9],
  ['W7 last page', 'W7 last page of the first', against('W7 last page', 'W7 first page'), 0.9],
  [
    'batch of 10,000',
    'others wait for a batch of 10,000, ms',
    value('batch of 10,000', 'blockedMilliseconds'),
    50,
    true,
  ],
];

const sqliteGoals = [
  ['W1', 'W1 of the HTTP floor', ratio('W1', 'floorPerSecond'), 0.3],
  ['W1', 'W1 of the bare loop, one record per commit', ratio('W1', 'bareSinglesPerSecond'), 2.5],
  ['W2', 'W2 of the bare loop', ratio('W2', 'barePerSecond'), 0.9],
  ['W3', 'W3 of the bare loop', ratio('W3', 'barePerSecond'), 0.9],
  ['W4', 'W4 of the HTTP floor’s lists', ratio('W4', 'floorPerSecond'), linkedGoal(3)],
  ['W4', 'W4, CPU µs per query', value('W4', 'cpuMicroseconds'), 2_000, true],
  ['W5', 'W5 of the HTTP floor', ratio('W5', 'floorPerSecond'), 0.6],
  ['W6', 'W6 start, ms', value('W6', 'startMilliseconds'), 500, true],
  ['W6', 'W6 idle, MB', value('W6', 'idleMegabytes'), 110, true],
  ['W3', 'W3 at its peak, MB', value('W3', 'peakMegabytes'), 350, true],
  ['W7 writes', 'W7 writes of the bare loop', ratio('W7 writes', 'barePerSecond'), 0.9],
  ...sharedGoals,
];

const postgresGoals = [
  ['W1', 'W1 of the HTTP floor', ratio('W1', 'floorPerSecond'), 0.12],
  ['W2', 'W2 of the HTTP floor', ratio('W2', 'floorPerSecond'), 0.13],
  ['W3', 'W3 of the HTTP floor', ratio('W3', 'floorPerSecond'), 0.15],
  ['W4', 'W4 of the HTTP floor’s lists', ratio('W4', 'floorPerSecond'), linkedGoal(2)],
  ...sharedGoals,
];

const number = (value, digits) =>
  Number.isFinite(value)
    ? value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: 0 })
    : '';

function columns(rows) {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column].length))) ?? [];
  return rows.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join('  '),
  );
}
