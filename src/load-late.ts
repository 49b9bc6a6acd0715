/** Loads what is needed late, such as pages, with the first request for it. If that fails, the next request tries again. */
export function loadLate<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}
