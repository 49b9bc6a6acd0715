/** Prints the figures as one table, and checks them against bounds. */

/** Megabytes that the process may use, and seconds after an attack until it must be well again. */
const maxPeak = 1_024;
const maxRecovery = 10;

/** Describes each bound that the attack has exceeded. Others may wait, and be told to try again: who has a key is a colleague. */
export function brokenBounds({ mayBeUnreachable }, figures) {
  const { peakMegabytes, recovery } = figures;
  const failed = failures(figures, (status) => !['429', '503'].includes(status));
  return [
    peakMegabytes > maxPeak && `it took ${whole(peakMegabytes)} MB, more than ${whole(maxPeak)}`,
    recovery > maxRecovery && `it was well again after ${whole(recovery)} s, later than ${maxRecovery}`,
    failed > 0 &&
      !mayBeUnreachable &&
      `${failed} requests of another workspace failed: ${JSON.stringify(figures.failed)}`,
  ].filter(Boolean);
}

const failures = ({ failed: { read, create } }, counts = () => true) =>
  [...Object.entries(read), ...Object.entries(create)].reduce(
    (sum, [status, count]) => sum + (counts(status) ? count : 0),
    0,
  );

const whole = (value) => value.toLocaleString('en-US', { maximumFractionDigits: 0 });

const head = ['attack', 'database', 'status', 'time s', 'well after s', 'others wait ms', 'refused', 'peak MB', ''];

const cells = ({ attack, database, problems, ...figures }) => {
  const verdict = problems.length > 0 ? 'FAILED' : 'passed';
  if (!figures.statuses) return [attack, database, 'not run', '', '', '', '', '', verdict];
  const { statuses, isFinished, seconds, recovery, waitMilliseconds, peakMegabytes } = figures;
  const counts = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  return [
    attack,
    database,
    counts.join(', ') || 'none',
    isFinished ? seconds.toFixed(1) : `> ${Math.floor(seconds)}`,
    recovery.toFixed(1),
    whole(waitMilliseconds),
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
