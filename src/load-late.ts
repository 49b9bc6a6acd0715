/** Loads modules and files when they are first needed, not at every start. Must not know which. */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { unavailable } from './errors.ts';

/** More than Node opens at the same time while it loads modules. */
const neededDescriptors = 32;

/**
 * Loads a module once; if that fails, the next call tries again. Node caches a failed `import()` for good, and treats a
 * `package.json` that it could not open as absent: nothing may be loaded while file descriptors are short.
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
