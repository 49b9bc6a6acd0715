/** SQLite's name for a database without a file. */
export const inMemory = ':memory:';

/** Where the service keeps its file unless told otherwise. */
export const defaultPath = 'data/yardgraph.db';

/** Returns the path in `sqlite:PATH`; undefined when the text has another form, such as a mistyped `sqlite::memory:`. */
export const sqlitePath = (databaseUrl: string): string | undefined =>
  /^sqlite:(?!\/\/)(:memory:|[^:\s].*)$/.exec(databaseUrl)?.[1];
