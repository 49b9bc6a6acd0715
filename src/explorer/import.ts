/** Imports files that are dropped on a table: the code of `yardgraph import` previews and stores them. */
import { html, nothing, render } from 'lit-html';
import { Yardgraph } from '../../client/index.ts';
import { damagedError, describeFile, type ImportFile, isCompressed } from '../import/file.ts';
import { type Output, prepare, preview, requireResumable, startRun, store } from '../import/import.ts';
import { findMadeChanges, type MadeChanges, revertInParts, uniqueMessage } from '../import/made-changes.ts';
import { profileOf } from '../import/profiles.ts';
import type { ImportRun } from '../import/run.ts';
import { formatCount } from '../model/issues.ts';
import { kindNamed } from '../records/index.ts';
import { inWords, linkOf, outsideQuotes, title } from './kinds.ts';
import { button, headOf, tableOf } from './values.ts';

/** By the names of the command's options, which its messages contain. Options without an example are check boxes. */
const options: Readonly<Record<string, readonly [label: string, example?: string]>> = {
  dates: ['Dates are written as', '31.12.2026'],
  'time-zone': ['Time zone of times without one', 'Europe/Berlin'],
  'link-by': ['Find links by', 'location=name, project=reference'],
  'create-missing': ['Create what links name', 'locations'],
  'upsert-by': ['Find stored records by', 'externalIds.erp'],
  map: ['Columns with other names', 'Serial no.=uid'],
  skip: ['Leave out columns', 'Picture, Remarks'],
  null: ['Text of empty cells', 'NULL'],
  encoding: ['Encoding', 'windows-1252'],
  profile: ['Exported by', 'snipe-it'],
  'skip-others': ['Leave out other columns'],
  'decimal-comma': ['Numbers are written as 53,08'],
  excel: ['Exported for Excel'],
};

/** Options with several values, separated by commas. */
const lists = ['upsert-by', 'link-by', 'create-missing', 'map', 'skip'];

function optionInput([name, [label, example]]: [string, readonly [string, string?]]) {
  const value = name === 'time-zone' ? Intl.DateTimeFormat().resolvedOptions().timeZone : nothing;
  const input = example
    ? html`<input name=${name} placeholder=${example} autocomplete="off" value=${value}>`
    : html`<input type="checkbox" name=${name}>`;
  return html`<label class=${example ? 'field' : 'row'}>${label} ${input}</label>`;
}

/** A message of the command, with the labels of options and fields. */
const inLabels = (message: string): string =>
  outsideQuotes(inWords(message), (text) =>
    text.replace(/--([a-z-]{1,30})/g, (option, name) => (options[name] ? `“${options[name][0]}”` : option)),
  );

const columnTitle = (column: string): string => {
  const [field = '', ...system] = column.trim().split('.');
  return [title(linkOf(field)), ...system].join(': ');
};

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

async function* bytesOf(file: File): AsyncGenerator<Uint8Array> {
  const isPacked = isCompressed(new Uint8Array(await file.slice(0, 2).arrayBuffer()));
  const reader = (isPacked ? file.stream().pipeThrough(new DecompressionStream('gzip')) : file.stream()).getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } catch (error) {
    throw isPacked ? damagedError(file.name, error) : error;
  }
}

type Next = { readonly label: string; readonly run: () => Promise<Next> } | undefined;

/** Opens a dialog that previews the files, in place of an open one. Closing it stops the import after this part. */
export function openImport(kind: string, dropped: readonly File[]): void {
  document.querySelector<HTMLDialogElement>('dialog.import')?.close();
  const names = dropped.map(({ name }) => name).join(', ');
  const dialog = Object.assign(document.createElement('dialog'), {
    className: 'import floats pad',
    ariaLabel: `Import ${names}`,
  });
  const shown = { said: [] as unknown[], progress: '', problem: '', isBusy: false, next: undefined as Next };
  let stop = new AbortController();
  const end = () => stop.abort(new Error('The import was stopped'));
  /** The name of the stored note that this import has begun. Stale once another tab has written or removed the note. */
  let noted = { name: '', isStale: false };

  async function take(step: () => Promise<Next>): Promise<void> {
    stop = new AbortController();
    draw({ isBusy: true, problem: '', next: undefined });
    const taken = await step().then(
      (next) => ({ next }),
      ({ message }: Error) => ({ problem: inLabels(message) }),
    );
    draw({ isBusy: false, progress: '', ...taken });
  }

  async function check(form: FormData): Promise<Next> {
    shown.said = [];
    const say = (text: string) => void shown.said.push(html`<p>${inLabels(text)}</p>`);
    const table: Output['table'] = (heads, rows) => {
      const isCounted = (_: unknown, at: number) => at === 0 || rows.some((row) => row[at] !== 0);
      const shownHeads = heads.filter(isCounted).map((head) => headOf(head));
      const texts = rows.map(([column, ...counts]) =>
        [columnTitle(String(column)), ...counts.map((count) => count.toLocaleString())].filter(isCounted),
      );
      shown.said.push(tableOf('Outcomes of each column', shownHeads, texts));
    };
    const output: Output = { say, table };
    const { profile, encoding } = settingOf(form);
    // Reading a file that has changed fails.
    const files: ImportFile[] = dropped.map((file) => ({
      ...describeFile(file.name, kindNamed(kind)),
      bytes: () => bytesOf(file),
      isUnchanged: () => true,
    }));
    // A refused key ends the import: the rest could go to the workspace of another key.
    const key = { serverURL: new URL('./', location.href), apiKeyAuth: sessionStorage.getItem('yardgraph.key') ?? '' };
    const client = new Yardgraph(key);
    const { viewer } = await client.graphql('{ viewer { workspace { id } user { id } } }');
    // The same files with the same options resume a stopped import.
    const versions = dropped.map(({ name, size, lastModified }) => [name, size, lastModified]);
    noted = { name: `import ${JSON.stringify([viewer, kind, versions, profile, encoding])}`, isStale: false };
    const note = localStorage.getItem(noted.name);
    const id = crypto.getRandomValues(new Uint32Array(2)).join('-');
    const run: ImportRun = note ? JSON.parse(note) : await startRun(client, id);
    const restart = 'drop the file under another name';
    const message = uniqueMessage(`import of ${names.slice(0, 100)}`, run.id);
    const yardgraph = new Yardgraph({ ...key, changeMessage: message, importRun: run.id });
    let done = 0;
    const onProgress = (rows: number) => {
      done += rows;
      draw({ progress: `${formatCount(done)} of ${formatCount(work.scanned.total)} rows` });
    };
    const setting = { yardgraph, files, encoding, partSize: 1_000, signal: stop.signal, onProgress };
    const work = await prepare(profile, setting);
    if (note) {
      await requireResumable(work, run, restart);
      say('Going on with the import that was stopped: what it has stored is not stored again.');
    } else if ((await preview(work, output)).changed === 0) return undefined;
    return { label: note ? 'Go on' : 'Store them', run: storeAll };

    async function storeAll(): Promise<Next> {
      if (noted.isStale || localStorage.getItem(noted.name) !== note)
        throw new Error('an import of this file has begun, or ended, in another tab. Try again to go on with it');
      const save = () => localStorage.setItem(noted.name, JSON.stringify(run));
      save();
      done = 0;
      const refusedFiles = files.map(({ name }) => {
        const texts: string[] = [];
        const refusedName = name.replace(/\.\w{1,10}(?:\.gz)?$/, '.refused$&');
        return { name: refusedName, texts, write: (text: string) => void texts.push(text) };
      });
      const storing = { run, save, fileKeys: files.map((_, at) => String(at)), restart: note ? restart : undefined };
      const options = { storing, refusedFiles, isPreviewed: !note };
      await store({ ...work, signal: stop.signal }, options, output).catch((error: Error) => {
        const soFar = `Stored or refused so far: ${shown.progress || 'no rows'}`;
        throw new Error(`${error.message}. ${soFar}. Try again to go on: nothing is stored twice.`);
      });
      localStorage.removeItem(noted.name);
      for (const { name, texts } of refusedFiles)
        if (texts.length > 0)
          shown.said.push(html`<p><a href=${URL.createObjectURL(new Blob(texts))} download=${name}>${name}</a></p>`);
      const made = await findMadeChanges(yardgraph, run.id);
      return made && { label: 'Undo', run: () => undo(made) };
    }

    async function undo(made: MadeChanges): Promise<Next> {
      const counts = { reversed: 0, kept: 0 };
      for await (const part of revertInParts(yardgraph, made, { signal: stop.signal })) {
        counts.reversed += part.reversed;
        counts.kept += part.kept + part.failed;
      }
      say(`Undone: ${formatCount(counts.reversed)} changes. ${formatCount(counts.kept)} are kept.`);
      return undefined;
    }
  }

  function start(event?: Event): void {
    event?.preventDefault();
    // Before its inputs are disabled.
    const form = new FormData(dialog.querySelector('form') ?? undefined);
    void take(() => check(form));
  }

  function draw(changed: Partial<typeof shown>): void {
    const { said, progress, problem, isBusy, next } = Object.assign(shown, changed);
    // Only checked options are stored.
    const forget = () => draw({ next: undefined });
    const view = html`
      <h2>Import ${names}</h2>
      <form @submit=${start} @input=${forget}>
        <details ?open=${problem !== ''}>
          <summary>Options</summary>
          <fieldset class="form card pad" ?disabled=${isBusy}>
            ${Object.entries(options).map(optionInput)} <p class="full"><button>Check again</button></p>
          </fieldset>
        </details>
      </form>
      ${said} ${problem ? html`<p role="alert" class="error">${problem}</p>` : nothing}
      <p role="status">${isBusy ? `Working… ${progress}` : ''}</p>
      <p class="row">
        ${next ? button(next.label, () => void take(next.run), next.label === 'Undo' ? '' : 'primary') : nothing}
        ${problem ? button('Try again', () => start()) : nothing}
        ${isBusy ? button('Stop', end) : button('Close', () => dialog.close())}
      </p>`;
    render(view, dialog);
  }

  const closed = new AbortController();
  const compare = ({ key }: StorageEvent) => {
    noted.isStale ||= key === noted.name;
  };
  addEventListener('storage', compare, { signal: closed.signal });
  dialog.addEventListener('cancel', (event) => shown.isBusy && event.preventDefault());
  dialog.addEventListener('close', () => {
    closed.abort();
    end();
    dialog.remove();
  });
  document.body.append(dialog);
  draw({});
  dialog.showModal();
  start();
}
