/** Modules that are loaded when they are first needed, not at every start. */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { unavailable } from '../errors.ts';

/** More than are open at a time while modules are loaded. */
const neededDescriptors = 32;

/**
 * Loads something once; where that fails, the next who needs it tries again. Node keeps a failed `import()` for good, and
 * a `package.json` that it could not open as one that is not there: so nothing is tried while descriptors are short.
 */
export function loadLate<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  const tryToLoad = async (): Promise<T> => {
    requireDescriptors();
    return load();
  };
  return () => {
    loaded ??= tryToLoad().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}

function requireDescriptors(): void {
  const opened: number[] = [];
  try {
    while (opened.length < neededDescriptors) opened.push(openSync(devNull, 'r'));
  } catch (error) {
    throw unavailable('this part of the service cannot be loaded now, try again', String(error));
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}
