/** The figures as one table, and the bounds they must keep. */

/** Milliseconds that one request may block the thread that serves, and megabytes the service may take for it. */
const maxBlocked = 1_000;
const maxPeak = 1_024;
/** Milliseconds that whatever one workspace sends may keep another waiting. */
const usualMaxWait = 2_000;

/** What a single request, or whatever one workspace sends, has broken. */
export function brokenBounds({ isSingle, maxWait = usualMaxWait, mayFail }, figures) {
  const { blockedMilliseconds, peakMegabytes } = figures;
  const [wait, failed] = [longestWait(figures), failures(figures)];
  return [
    isSingle &&
      blockedMilliseconds > maxBlocked &&
      `one request blocked all others for ${whole(blockedMilliseconds)} ms`,
    isSingle && peakMegabytes > maxPeak && `one request took ${whole(peakMegabytes)} MB`,
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
  const verdict = problems.length > 0 ? 'BROKEN' : 'kept';
  if (!figures.statuses) return [attack, database, 'not made', '', '', '', '', '', verdict];
  const { statuses, isWhole, seconds, blockedMilliseconds, peakMegabytes } = figures;
  const counts = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  return [
    attack,
    database,
    counts.join(', ') || 'none',
    isWhole ? seconds.toFixed(1) : `> ${Math.floor(seconds)}`,
    whole(blockedMilliseconds),
    whole(longestWait(figures)),
    whole(failures(figures)),
    peakMegabytes === undefined ? '' : whole(peakMegabytes),
    verdict,
  ];
};

/** Figures of one attack, when it has ended. */
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
    ...problems.map((text) => `${attack}: BROKEN: ${text}`),
  ]);
  return [...table, '', ...remarks].join('\n');
}
