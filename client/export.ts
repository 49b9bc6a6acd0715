import { ConnectionError } from './errors.ts';
import type { kinds } from './graphql-types.ts';
import { requireKnown } from './options.ts';
import { serviceError, unexpected } from './responses.ts';
import type { Send } from './send.ts';

type ListName = (typeof kinds)[keyof typeof kinds]['list'];

export interface ExportOptions {
  /** A GraphQL filter of the kind: `{ name: { startsWith: 'Crane' } }`. Not with `all`. */
  readonly where?: object | undefined;
  /** Systems whose IDs get a column each, also for linked records: `['erp']`. */
  readonly externalIds?: readonly string[] | undefined;
  /** Adds columns with the names of linked records: `location.name`. */
  readonly names?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ExportFileOptions extends ExportOptions {
  /**
   * Adds a byte order mark, apostrophes before texts that spreadsheets execute, and formulas around texts that they
   * change. A language, such as `de-DE`, also chooses the delimiter, dates, the decimal sign and names before IDs. Only
   * for `csv`.
   */
  readonly excel?: boolean | string | undefined;
  /** Default: `,`. Only for `csv`. */
  readonly delimiter?: ',' | ';' | '\t' | 'tab' | undefined;
  /** 31 December 2026 in the format of dates. Only for `csv`. */
  readonly dates?: '31.12.2026' | '31/12/2026' | '12/31/2026' | undefined;
  /** The zone of times, such as `Europe/Berlin`. Only for `csv`. */
  readonly timeZone?: string | undefined;
  /** Writes numbers such as `53,08`. Only for `csv`. */
  readonly decimalComma?: boolean | undefined;
}

/** An exported record: `{ kind: 'ASSET', id: 'asset_…', name: 'Crane' }`. Fields without a value are absent. */
export type ExportedRow = { readonly kind: string; readonly id: string } & Readonly<Record<string, unknown>>;

export interface ExportedFile {
  readonly count: number;
  /** Fails if the file is incomplete. */
  readonly body: ReadableStream<Uint8Array>;
}

export type ExportRows = (
  name: ListName | 'all',
  options?: ExportOptions,
) => AsyncGenerator<ExportedRow, void, undefined>;

export type ExportFile = (
  name: ListName | 'all',
  format: 'csv' | 'ndjson',
  options?: ExportFileOptions,
) => Promise<ExportedFile>;

export const exportFile =
  (send: Send): ExportFile =>
  async (name, format, { where, externalIds, names, excel, signal, ...options } = {}) => {
    const { delimiter, dates, timeZone, decimalComma, ...unread } = options;
    requireKnown('export', unread);
    const values = {
      where: where && JSON.stringify(where),
      externalIds: externalIds?.join(','),
      ...{ names, excel, delimiter, dates, timeZone, decimalComma },
    };
    const set = Object.entries(values).filter(([, value]) => value !== undefined);
    const parameters = new URLSearchParams(set.map(([parameter, value]) => [parameter, String(value)]));
    const file = encodeURIComponent(`${name.replace(/[A-Z]/g, '-$&').toLowerCase()}.${format}`);
    const path = `/export/${file}${parameters.size > 0 ? `?${parameters}` : ''}`;
    return send({ method: 'GET', path, accept: '*/*', isStreamed: true, signal }, (response) => {
      if (response.status >= 300) throw serviceError(response);
      if (!response.stream) throw unexpected(response);
      return { count: Number(response.headers.get('export-count')), body: response.stream };
    });
  };

export const exportRows = (open: ExportFile): ExportRows =>
  async function* (name, options) {
    const { count, body } = await open(name, 'ndjson', options);
    let rows = 0;
    for await (const line of linesIn(body)) {
      rows += 1;
      yield JSON.parse(line);
    }
    if (rows !== count) throw new ConnectionError('CUT_OFF', { mayBeStored: false });
  };

/** Safari has no `for await` of streams. */
async function* linesIn(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value = '' } = await reader.read().catch((cause: unknown) => {
        throw new ConnectionError('CUT_OFF', { mayBeStored: false, cause });
      });
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
      if (done) return;
    }
  } finally {
    // The caller may end the iteration early.
    await reader.cancel().catch(() => {});
  }
}
