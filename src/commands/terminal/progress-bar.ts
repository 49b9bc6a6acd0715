/** Progress on standard error: a bar if it is a terminal, and plain lines elsewhere. */
import { Presets, SingleBar } from 'cli-progress';

/** `text` has placeholders of cli-progress: `{percentage}% {value}/{total} rows`. */
export const createProgressBar = (text: string): SingleBar =>
  new SingleBar(
    { format: `${process.stderr.isTTY ? '{bar} ' : ''}${text}`, noTTYOutput: true, notTTYSchedule: 2_000 },
    Presets.shades_classic,
  );
