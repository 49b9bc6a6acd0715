/**
 * The import of files that were dropped on a table, loaded when it is asked for: they are previewed and stored by the code of
 * `yardgraph import`, with its options.
 */
import { html, nothing, render } from 'lit-html';
import { Yardgraph } from '../../client/index.ts';
import { damagedError, formOf, type ImportFile, isCompressed } from '../import/file.ts';
import { type Begun, goOn, type Output, prepare, preview, store } from '../import/import.ts';
import { describeChanges, findRanges, type MadeChanges, revertedParts, uniqueMessage } from '../import/made-changes.ts';
import { profileOf } from '../import/profiles.ts';
import type { Import } from '../import/run.ts';
import { count } from '../model/issues.ts';
import { kindNamed } from '../records/index.ts';
import { read } from './service.ts';

/** By the names of the command's options, of which messages speak. Those without an example are switched on or off. */
const options: Readonly<Record<string, readonly [label: string, example?: string]>> = {
  'upsert-by': ['Find stored records by', 'externalIds.erp'],
  'link-by': ['Find links by', 'location=name, assetType=name'],
  'create-missing': ['Create what links name', 'locations'],
  map: ['Columns with other names', 'Serial no.=uid'],
  skip: ['Leave out columns', 'Picture, Remarks'],
  'skip-others': ['Leave out other columns'],
  dates: ['Dates are written as', '31.12.2026'],
  'time-zone': ['Time zone of times without one', 'Europe/Berlin'],
  'decimal-comma': ['Numbers are written as 53,08'],
  encoding: ['Encoding', 'windows-1252'],
  profile: ['Exported by', 'snipe-it'],
};

/** The note of an import, from the preview on: when it is another, or none any more, another tab has stored what two have previewed. */
interface Note extends Partial<Begun> {
  readonly run: string;
}

const fileOf = (file: File, kind: string): ImportFile => ({
  ...formOf(file.name, kindNamed(kind)),
  bytes: () => bytesOf(file),
  // Reading a file that has changed fails.
  isUnchanged: () => true,
});

async function* bytesOf(file: File): AsyncGenerator<Uint8Array> {
  const isPacked = isCompressed(new Uint8Array(await file.slice(0, 2).arrayBuffer()));
  const reader = (isPacked ? file.stream().pipeThrough(new DecompressionStream('gzip')) : file.stream()).getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } catch (error) {
    throw isPacked ? damagedError(file.name, error) : error;
  } finally {
    void reader.cancel().catch(() => {});
  }
}

function settingOf(form: FormData) {
  const text = (name: string) => String(form.get(name) ?? '').trim() || undefined;
  const list = (name: string) => text(name)?.split(/,\s*/) ?? [];
  const own = {
    profile: text('profile'),
    upsertBy: list('upsert-by'),
    createMissing: list('create-missing'),
    map: list('map'),
    linkBy: list('link-by'),
    skip: list('skip'),
    skipOthers: form.has('skip-others'),
    decimalComma: form.has('decimal-comma'),
    dates: text('dates'),
    timeZone: text('time-zone'),
  };
  const readNone = () => {
    throw new Error('only the ready ones are there');
  };
  return { profile: profileOf(own, readNone), encoding: text('encoding') };
}

const randomText = (): string => crypto.getRandomValues(new Uint32Array(1))[0]?.toString(16).padStart(8, '0') ?? '';

const tableOf: Output['table'] = (head, rows) => html`
  <div class="scroll" tabindex="0" role="region" aria-label="What becomes of each column">
    <table>
      <thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>
        ${rows.map(
          ([name, ...numbers]) =>
            html`<tr><th scope="row">${name}</th>${numbers.map((number) => html`<td>${number.toLocaleString()}</td>`)}</tr>`,
        )}
      </tbody>
    </table>
  </div>`;

type Next = { readonly label: string; readonly run: () => Promise<Next> } | undefined;

/** Fills the element, and previews the files. Returns what stops it: a part that is on its way is stored. */
function startImport(host: FileImport): () => void {
  const { kind, files: dropped, close } = host;
  const names = dropped.map(({ name }) => name).join(', ');
  let said: unknown[] = [];
  let refused: readonly { readonly name: string; readonly texts: string[] }[] = [];
  let [progress, problem] = ['', ''];
  let isBusy = false;
  /** What follows the step before. */
  let next: Next;
  /** Where an import of these files is noted that was stopped. */
  let noted: string | undefined;
  let stop = new AbortController();
  const output: Output = {
    say: (text) => said.push(html`<p>${text}</p>`),
    table: (head, rows) => said.push(tableOf(head, rows)),
  };

  async function take(step: () => Promise<Next>): Promise<void> {
    stop = new AbortController();
    isBusy = true;
    problem = '';
    next = undefined;
    noted = undefined;
    draw();
    try {
      next = await step();
    } catch (error) {
      problem = (error as Error).message;
    }
    isBusy = false;
    progress = '';
    draw();
  }

  async function check(form: FormData): Promise<Next> {
    said = [];
    refused = [];
    const { profile, encoding } = settingOf(form);
    const files = dropped.map((file) => fileOf(file, kind));
    const versions = dropped.map(({ name, size, lastModified }) => [name, size, lastModified]);
    // If it is refused, the import ends: with another key, the rest might go to another workspace.
    const apiKeyAuth = sessionStorage.getItem('yardgraph.key') ?? '';
    const { viewer } = await read('{ viewer { workspace { id } user { id } } }');
    const identity = `import ${JSON.stringify([viewer, kind, versions, profile, encoding])}`;
    // The same file with the same options, dropped again, goes on with the same keys if anything may have been stored.
    const note = localStorage.getItem(identity) ?? JSON.stringify({ run: randomText() });
    localStorage.setItem(identity, note);
    const { run, startedAt, after }: Note = JSON.parse(note);
    const known: Begun | undefined =
      startedAt === undefined || after === undefined ? undefined : { run, startedAt, after };
    if (known) noted = identity;
    const message = uniqueMessage(`import of ${names.slice(0, 100)}`, run);
    const yardgraph = new Yardgraph({ serverURL: new URL('./', location.href), apiKeyAuth, changeMessage: message });
    let done = 0;
    const onProgress = (rows: number) => {
      done += rows;
      progress = `${count(done)} of ${count(work.scanned.total)} rows`;
      draw();
    };
    const setting = { yardgraph, files, encoding, partSize: 1_000, signal: stop.signal, onProgress };
    const work: Import = await prepare(profile, setting);
    if (known) await goOn(work, { ...known, message, anew: 'begin anew' }, output);
    else await preview(work, output);
    return { label: known ? 'Go on' : 'Store them', run: storeAll };

    async function storeAll(): Promise<Next> {
      if (localStorage.getItem(identity) !== note) {
        throw new Error('an import of this file has begun, or ended, in another tab. Try again to go on with it');
      }
      done = 0;
      return storeRows().catch(({ message: problemMessage }) => {
        throw new Error(
          `${problemMessage}. Stored or refused so far: ${progress || 'no rows'}. Try again to go on: nothing is stored twice.`,
        );
      });
    }

    async function storeRows(): Promise<Next> {
      const begun: Begun = known ?? { run, after: await yardgraph.changeCursor(), startedAt: Date.now() };
      localStorage.setItem(identity, JSON.stringify(begun));
      const own = files.map(({ name }) => ({
        name: name.replace(/\.\w{1,10}(?:\.gz)?$/, '.refused$&'),
        texts: [] as string[],
      }));
      const refusedFiles = own.map(({ name, texts }) => ({ name, write: (text: string) => void texts.push(text) }));
      const sending = { id: run, fileKeys: files.map((_, index) => String(index)) };
      const { changed } = await store(
        { ...work, signal: stop.signal },
        { run: sending, refusedFiles, isPreviewed: !known },
        output,
      );
      stop.signal.throwIfAborted();
      refused = own.filter(({ texts }) => texts.length > 0);
      const made = { after: begun.after, message, number: changed };
      output.say(await describeChanges(yardgraph, made));
      localStorage.removeItem(identity);
      return changed === 0 ? undefined : { label: 'Undo', run: () => undo(yardgraph, made) };
    }
  }

  async function undo(yardgraph: Yardgraph, made: MadeChanges): Promise<Next> {
    const ranges = await findRanges(yardgraph, made);
    if (!ranges) throw new Error('others have written so often meanwhile that only yardgraph undo can do it');
    const counts = { reversed: 0, kept: 0, failed: 0 };
    for (const [from, to] of ranges.toReversed()) {
      for await (const part of revertedParts(yardgraph, from, to, { signal: stop.signal })) {
        counts.reversed += part.reversed;
        counts.kept += part.kept;
        counts.failed += part.failed;
      }
    }
    output.say(`Undone: ${count(counts.reversed)} changes. ${count(counts.kept + counts.failed)} are kept.`);
    return undefined;
  }

  function draw(): void {
    const submit = (event: Event) => {
      event.preventDefault();
      start();
    };
    const proceed = () => next && void take(next.run);
    // What is stored is what was checked.
    const change = () => {
      next = undefined;
      draw();
    };
    const view = html`
      <h2>Import ${names}</h2>
      <form @submit=${submit} @input=${change}>
        <details>
          <summary>Options</summary>
          <fieldset ?disabled=${isBusy}>${Object.keys(options).map(optionInput)}</fieldset>
          <button ?disabled=${isBusy}>Check again</button>
        </details>
      </form>
      ${said}
      ${problem ? html`<p role="alert">${problem}</p><button type="button" @click=${start}>Try again</button>` : nothing}
      ${refused.map(({ name, texts }) => html`<p><a href=${urlOf(texts)} download=${name}>${name}</a></p>`)}
      <p role="status">${isBusy ? `Working… ${progress}` : ''}</p>
      ${next ? html`<button type="button" @click=${proceed}>${next.label}</button>` : nothing}
      ${noted && !isBusy ? html`<button type="button" @click=${beginAnew}>Begin anew</button>` : nothing}
      ${isBusy ? html`<button type="button" @click=${end}>Stop</button>` : html`<button type="button" @click=${close}>Close</button>`}`;
    render(view, host);
  }

  function start(): void {
    // Before its inputs are disabled.
    const form = new FormData(host.querySelector('form') ?? undefined);
    void take(() => check(form));
  }

  function beginAnew(): void {
    if (noted) localStorage.removeItem(noted);
    start();
  }

  const end = () => stop.abort(new Error('The import was stopped'));

  draw();
  start();
  return end;
}

function optionInput(name: string) {
  const [label, example] = options[name] as (typeof options)[string];
  const input =
    example === undefined
      ? html`<input type="checkbox" name=${name}>`
      : html`<input name=${name} placeholder=${example} autocomplete="off"
          value=${name === 'time-zone' ? Intl.DateTimeFormat().resolvedOptions().timeZone : nothing}>`;
  return html`<label>${label} <code>--${name}</code> ${input}</label>`;
}

const urls = new WeakMap<readonly string[], string>();

function urlOf(texts: readonly string[]): string {
  const url = urls.get(texts) ?? URL.createObjectURL(new Blob([...texts]));
  urls.set(texts, url);
  return url;
}

class FileImport extends HTMLElement {
  /** Of files whose names say none. */
  kind = '';
  files: readonly File[] = [];
  close = () => {};
  #end = () => {};

  connectedCallback(): void {
    this.#end = startImport(this);
  }

  disconnectedCallback(): void {
    this.#end();
  }
}

customElements.define('file-import', FileImport);
