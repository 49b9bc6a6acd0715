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
import { count } from '../model/issues.ts';
import { kindNamed } from '../records/index.ts';
import { head, tableOf } from './cells.ts';

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

/** Those that take several values, separated by commas. */
const lists = ['upsert-by', 'link-by', 'create-missing', 'map', 'skip'];

function optionInput([name, [label, example]]: [string, readonly [string, string?]]) {
  const value = name === 'time-zone' ? Intl.DateTimeFormat().resolvedOptions().timeZone : nothing;
  const input = example
    ? html`<input name=${name} placeholder=${example} autocomplete="off" value=${value}>`
    : html`<input type="checkbox" name=${name}>`;
  return html`<label>${label} <code>--${name}</code> ${input}</label>`;
}

function settingOf(form: FormData) {
  const sent = Object.entries(options).map(([name, [, example]]) => {
    const text = String(form.get(name) ?? '').trim();
    const value = lists.includes(name) ? text.split(/,\s*/).filter(Boolean) : text || undefined;
    return [name.replace(/-(.)/g, (_, letter) => letter.toUpperCase()), example ? value : form.has(name)];
  });
  const { encoding, ...own } = Object.fromEntries(sent);
  const readNone = () => {
    throw new Error('only the ready ones are there');
  };
  return { profile: profileOf(own, readNone), encoding };
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

const randomText = (): string => crypto.getRandomValues(new Uint32Array(1))[0]?.toString(16).padStart(8, '0') ?? '';

/** What follows a step, and its button. */
type Next = { readonly label: string; readonly run: () => Promise<Next> } | undefined;

/** Fills the element, and previews the files. Returns what stops it: a part that is on its way is stored. */
function startImport(host: FileImport): () => void {
  const { kind, files: dropped, close } = host;
  const names = dropped.map(({ name }) => name).join(', ');
  let said: unknown[] = [];
  let [progress, problem] = ['', ''];
  let isBusy = false;
  let next: Next;
  let stop = new AbortController();
  const output: Output = {
    say: (text) => said.push(html`<p>${text}</p>`),
    table(heads, rows) {
      const shown = rows.map((row) => row.map((value) => value.toLocaleString()));
      said.push(tableOf('What becomes of each column', heads.map(head), shown));
    },
  };

  async function take(step: () => Promise<Next>): Promise<void> {
    stop = new AbortController();
    isBusy = true;
    problem = '';
    next = undefined;
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
    const { profile, encoding } = settingOf(form);
    const files = dropped.map((file) => fileOf(file, kind));
    // If it is refused, the import ends: with another key, the rest might go to another workspace.
    const connection = {
      serverURL: new URL('./', location.href),
      apiKeyAuth: sessionStorage.getItem('yardgraph.key') ?? '',
    };
    const service = new Yardgraph(connection);
    const { viewer } = await service.graphql('{ viewer { workspace { id } user { id } } }');
    // The same files with the same options go on with the import of them that was stopped.
    const versions = dropped.map(({ name, size, lastModified }) => [name, size, lastModified]);
    const identity = `import ${JSON.stringify([viewer, kind, versions, profile, encoding])}`;
    const noted = localStorage.getItem(identity);
    const begin = async (): Promise<Begun> => ({
      run: randomText(),
      after: await service.changeCursor(),
      startedAt: Date.now(),
    });
    const begun: Begun = noted ? JSON.parse(noted) : await begin();
    const message = uniqueMessage(`import of ${names.slice(0, 100)}`, begun.run);
    const yardgraph = new Yardgraph({ ...connection, changeMessage: message });
    let done = 0;
    const onProgress = (rows: number) => {
      done += rows;
      progress = `${count(done)} of ${count(work.scanned.total)} rows`;
      draw();
    };
    const setting = { yardgraph, files, encoding, partSize: 1_000, signal: stop.signal, onProgress };
    const work = await prepare(profile, setting);
    const anew = 'drop the file under another name';
    if (noted) await goOn(work, { ...begun, message, anew }, output);
    else await preview(work, output);
    return { label: noted ? 'Go on' : 'Store them', run: storeAll };

    async function storeAll(): Promise<Next> {
      if (localStorage.getItem(identity) !== noted) {
        throw new Error('an import of this file has begun, or ended, in another tab. Try again to go on with it');
      }
      localStorage.setItem(identity, JSON.stringify(begun));
      done = 0;
      const refusedFiles = files.map(({ name }) => {
        const texts: string[] = [];
        return {
          name: name.replace(/\.\w{1,10}(?:\.gz)?$/, '.refused$&'),
          texts,
          write: (text: string) => void texts.push(text),
        };
      });
      const sending = { id: begun.run, fileKeys: files.map((_, index) => String(index)) };
      const storing = { run: sending, refusedFiles, isPreviewed: !noted };
      const { changed } = await store({ ...work, signal: stop.signal }, storing, output).catch((error: Error) => {
        const soFar = `Stored or refused so far: ${progress || 'no rows'}. Try again to go on: nothing is stored twice.`;
        throw new Error(`${error.message}. ${soFar}`);
      });
      localStorage.removeItem(identity);
      for (const { name, texts } of refusedFiles.filter((file) => file.texts.length > 0)) {
        said.push(html`<p><a href=${URL.createObjectURL(new Blob(texts))} download=${name}>${name}</a></p>`);
      }
      const made = { after: begun.after, message, number: changed };
      output.say(await describeChanges(yardgraph, made));
      return changed === 0 ? undefined : { label: 'Undo', run: () => undo(yardgraph, made) };
    }
  }

  async function undo(yardgraph: Yardgraph, made: MadeChanges): Promise<Next> {
    const ranges = await findRanges(yardgraph, made);
    if (!ranges) throw new Error('others have written so often meanwhile that only yardgraph undo can do it');
    const counts = { reversed: 0, kept: 0 };
    for (const [from, to] of ranges.toReversed()) {
      for await (const part of revertedParts(yardgraph, from, to, { signal: stop.signal })) {
        counts.reversed += part.reversed;
        counts.kept += part.kept + part.failed;
      }
    }
    output.say(`Undone: ${count(counts.reversed)} changes. ${count(counts.kept)} are kept.`);
    return undefined;
  }

  function start(): void {
    // Before its inputs are disabled.
    const form = new FormData(host.querySelector('form') ?? undefined);
    void take(() => check(form));
  }

  function draw(): void {
    const submit = (event: Event) => {
      event.preventDefault();
      start();
    };
    // What is stored is what was checked.
    const change = () => {
      next = undefined;
      draw();
    };
    const button = (text: string, onClick: () => void) =>
      html`<button type="button" @click=${onClick}>${text}</button>`;
    const view = html`
      <h2>Import ${names}</h2>
      <form @submit=${submit} @input=${change}>
        <details>
          <summary>Options</summary>
          <fieldset ?disabled=${isBusy}>${Object.entries(options).map(optionInput)}</fieldset>
          <button ?disabled=${isBusy}>Check again</button>
        </details>
      </form>
      ${said}
      ${problem ? html`<p role="alert">${problem}</p>${button('Try again', start)}` : nothing}
      <p role="status">${isBusy ? `Working… ${progress}` : ''}</p>
      ${next ? button(next.label, () => next && void take(next.run)) : nothing}
      ${isBusy ? button('Stop', end) : button('Close', close)}`;
    render(view, host);
  }

  const end = () => stop.abort(new Error('The import was stopped'));

  draw();
  start();
  return end;
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
