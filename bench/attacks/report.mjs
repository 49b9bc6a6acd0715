/** Prints the figures as one table, and checks them against bounds. */

/** Milliseconds that one request may block the service's thread, and megabytes that the process may use for it. */
const maxBlocked = 1_000;
const usualMaxPeak = 1_024;
/** Milliseconds that requests of one workspace may delay those of another. */
const usualMaxWait = 2_000;

/** Describes each bound that the attack has exceeded. */
export function brokenBounds(
  { isSingle, maxPeak = isSingle ? usualMaxPeak : Infinity, maxWait = usualMaxWait, mayFail },
  figures,
) {
  const { blockedMilliseconds, peakMegabytes } = figures;
  const [wait, failed] = [longestWait(figures), failures(figures)];
  return [
    isSingle &&
      blockedMilliseconds > maxBlocked &&
      `one request blocked all others for ${whole(blockedMilliseconds)} ms`,
    peakMegabytes > maxPeak && `it took ${whole(peakMegabytes)} MB, more than ${whole(maxPeak)}`,
    wait > maxWait && `another workspace waited ${whole(wait)} ms, more than ${whole(maxWait)}`,
    failed > 0 && !mayFail && `${failed} requests of another workspace failed: ${JSON.stringify(figures.failed)}`,
  ].filter(Boolean);
}

const longestWait = ({ readMilliseconds, createMilliseconds }) => Math.max(readMilliseconds, createMilliseconds);

const failures = ({ failed: { read, create } }) =>
  [...Object.values(read), ...Object.values(create)].reduce((sum, count) => sum + count, 0);

const whole = (value) => value.toLocaleString('en-US', { maximumFractionDigits: 0 });

const head = ['attack', 'database', 'status', 'time s', 'blocked ms', 'others wait ms', 'others failed', 'peak MB', ''];

const cells = ({ attack, database, problems, ...figures }) => {
  const verdict = problems.length > 0 ? 'FAILED' : 'passed';
  if (!figures.statuses) return [attack, database, 'not run', '', '', '', '', '', verdict];
  const { statuses, isFinished, seconds, blockedMilliseconds, peakMegabytes } = figures;
  const counts = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  return [
    attack,
    database,
    counts.join(', ') || 'none',
    isFinished ? seconds.toFixed(1) : `> ${Math.floor(seconds)}`,
    whole(blockedMilliseconds),
    whole(longestWait(figures)),
    whole(failures(figures)),
    peakMegabytes === undefined ? '' : whole(peakMegabytes),
    verdict,
  ];
};

/** The figures of one attack as one line. */
export const line = (figures) => [...cells(figures), ...figures.notes, ...figures.problems].join(' | ');

export function report(measured) {
  const rows = [head, ...measured.map(cells)];
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const isText = (column) => column < 3 || column === head.length - 1;
  const table = rows.map((row) =>
    row
      .map((cell, column) => (isText(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
      .join('  ')
      .trimEnd(),
  );
  const remarks = measured.flatMap(({ attack, notes, problems }) => [
    ...notes.map((text) => `${attack}: ${text}`),
    ...problems.map((text) => `${attack}: FAILED: ${text}`),
  ]);
  return [...table, '', ...remarks].join('\n');
}
