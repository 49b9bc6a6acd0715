/** Reads a Containerfile: the part of its language that ours uses. Anything else is an error, so that nothing goes untested. */

/**
 * Returns the instructions of each stage.
 * @param {string} text
 * @returns {{ instruction: string, argument: string }[][]}
 */
export function stagesOf(text) {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const steps = lines.map((line) => {
    const [, instruction = '', argument = ''] = /^([A-Z]+) (.*[^\\])$/.exec(line) ?? [];
    if (!known.includes(instruction)) throw new Error(`the test cannot execute this line: ${line}`);
    return { instruction, argument };
  });
  const starts = steps.flatMap(({ instruction }, index) => (instruction === 'FROM' ? [index] : []));
  return starts.map((start, stage) => steps.slice(start, starts[stage + 1]));
}

const known = [
  'FROM',
  'WORKDIR',
  'COPY',
  'RUN',
  'USER',
  'ENV',
  'VOLUME',
  'EXPOSE',
  'STOPSIGNAL',
  'HEALTHCHECK',
  'ENTRYPOINT',
  'CMD',
];

/**
 * Returns the argument of the instruction that a stage has once.
 * @param {{ instruction: string, argument: string }[]} stage @param {string} wanted @returns {string}
 */
export function argumentOf(stage, wanted) {
  const found = stage.filter(({ instruction }) => instruction === wanted);
  if (found.length !== 1 || !found[0]) throw new Error(`expected one ${wanted}, found ${found.length}`);
  return found[0].argument;
}

/**
 * Returns the variables that a stage sets.
 * @param {{ instruction: string, argument: string }[]} stage @returns {Record<string, string>}
 */
export const environmentOf = (stage) =>
  Object.fromEntries(
    argumentOf(stage, 'ENV')
      .split(' ')
      .map((pair) => pair.split(/=(.*)/s, 2)),
  );
