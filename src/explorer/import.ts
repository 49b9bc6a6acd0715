/**
 * Imports dropped files: their columns are proposed, and somebody confirms them. The code of `yardgraph import` reads,
 * checks and stores the rows.
 */
import { html, nothing, render } from 'lit-html';
import { Yardgraph } from '../../client/index.ts';
import { damagedError, describeFile, type ImportFile, isCompressed } from '../import/file.ts';
import { describeNotes, type Preview, prepare, preview, requireResumable, startRun, store } from '../import/import.ts';
import { findMadeChanges, revertInParts, runDocument, uniqueMessage } from '../import/made-changes.ts';
import { type Choices, chosenProfile, columnId, likelyKind, type ProposedColumn, propose } from '../import/proposal.ts';
import { countedRows } from '../import/report.ts';
import type { Import, ImportRun, Totals } from '../import/run.ts';
import { type Doubt, mayBeTotal } from '../import/warnings.ts';
import { formatCount, quote } from '../model/issues.ts';
import { listField, pluralize } from '../model/labels.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { kindNamed, kindOfId, labelledTypes } from '../records/index.ts';
import { addressOf } from './address.ts';
import { areClear, columnTable, keyOf, optionTitles, settings } from './import-columns.ts';
import { changeTable, type Explained, explain } from './import-preview.ts';
import { undoRun } from './imports.ts';
import { inWords, kindNames, kindOf, numberedName, outsideQuotes, title, undoRunId, words } from './kinds.ts';
import { yardgraph as client, type Data, read } from './service.ts';
import { readEntry, writeEntry } from './storage.ts';
import { button, headOf, menu, notice, openDialog, timeTexts } from './values.ts';
import { report, requireWorkspace } from './writes.ts';

/** A message of the command, with the titles of fields and options, and without IDs and advice on other options. */
const inTitles = (message: string): string =>
  outsideQuotes(inWords(message), (text) =>
    text.replace(/--([a-z-]{1,30})/g, (option, name) => (optionTitles[name] ? `“${optionTitles[name]}”` : option)),
  )
    .split(/(?<=[:;,]) /)
    .filter((part) => !/(?:^| )--[a-z]/.test(part) && !kindOfId(part.replace(/,$/, '')))
    .join(' ')
    .replace(/[:;,]$/, '')
    .replace(/(?<!\\)\\n/g, ' ')
    .replace(' in this workspace', '')
    .replace(/expected one (.{1,30}), received id "[^"]{1,110}" and/, 'no $1 has both the ID beside it and the');

async function* bytesOf(file: File): AsyncGenerator<Uint8Array> {
  const isPacked = isCompressed(new Uint8Array(await file.slice(0, 2).arrayBuffer()));
  const reader = (isPacked ? file.stream().pipeThrough(new DecompressionStream('gzip')) : file.stream()).getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  } catch (error) {
    throw isPacked ? damagedError(file.name, error) : error;
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** The choices for the last files with other columns: people import the same table every month, and corrected rows. */
const remembered = (): readonly (readonly [columns: string, choices: Choices])[] =>
  [readEntry('yardgraph.imports')].flat().filter((entry) => entry?.[1]?.targets);

const keyOfChoices = (workspace: string, columns: readonly ProposedColumn[]): string =>
  [workspace, ...columns.map(columnId).toSorted()].join('\n');

const restart = 'drop the file under another name';

const serverURL = new URL('./', location.href);

/** Throws an error for a key of another workspace than that of the page. */
async function readViewer(): Promise<Data> {
  const { viewer } = await read('viewer { workspace { id } user { id } }');
  requireWorkspace(viewer);
  return viewer;
}

type Checked = Preview & Explained & { readonly notes: readonly string[] };

class ImportDialog extends HTMLElement {
  #isStoring = false;
  #files: readonly File[] = [];
  #names = '';
  /** Used unless the name of a file, or most of its headings, say otherwise. */
  #kind: RecordKind | undefined;
  #isKindChosen = false;
  #columns: readonly ProposedColumn[] = [];
  #choices: Choices = { encoding: undefined, targets: {}, createMissing: [], names: {} };
  /** With the answers, which count for these files alone. */
  #asked: readonly Doubt[] = [];
  #work: Import | undefined;
  #run: ImportRun | undefined;
  /** Stored, it lets a stopped import go on. Stale once another tab has written or removed it. */
  #note: { name: string; text: string | null; isStale?: boolean } = { name: '', text: null };
  #checked: Checked | undefined;
  #isOpen = false;
  #stored: { totals: Totals; refused: { name: string; texts: readonly string[] }[]; made?: Data } | undefined;
  /** They exist only here until somebody downloads them. */
  #refusedRows = 0;
  #problem = '';
  #progress = '';
  #stop = new AbortController();
  #isBusy = false;
  #isChanged = false;

  open(kind: string | undefined, files: readonly File[]): void {
    this.#files = files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    this.#names = this.#files.map(({ name }) => name).join(', ');
    this.#kind = kind === undefined ? undefined : kindNamed(kind);
    document.querySelector<HTMLDialogElement>('dialog.import')?.close();
    report('');
    const dialog = openDialog(`Import ${this.#names}`);
    dialog.classList.add('import');
    dialog.style.width = 'min(1080px, 100vw - 32px)';
    dialog.append(this);
    // Chrome closes a dialog at a second Escape, even if its event "cancel" is prevented.
    dialog.setAttribute('closedby', 'none');
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !this.#isBusy && this.mayClose()) dialog.close();
      if (event.key === 'Escape') event.preventDefault();
    };
    const compare = ({ key }: StorageEvent) => {
      if (key === this.#note.name) this.#note = { ...this.#note, isStale: true };
    };
    const closed = new AbortController();
    addEventListener('keydown', press, closed);
    addEventListener('storage', compare, closed);
    dialog.addEventListener('close', () => [this.#end(), closed.abort()]);
    void this.#propose();
  }

  mayClose(): boolean {
    const lost = this.#refusedRows > 0 ? `${countedRows(this.#refusedRows)} not stored` : 'your choices';
    return !this.#isStoring && (!this.isUnsaved || confirm(`Close this import, and lose ${lost}?`));
  }

  get isUnsaved(): boolean {
    return this.#isStoring || this.#isChanged || this.#refusedRows > 0;
  }

  #end(): void {
    this.#stop.abort(new Error('The import was stopped'));
  }

  /** Ends the step before, and shows the error of this one. */
  async #take(step: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#end();
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const focused = document.activeElement as HTMLElement | null;
    [this.#isBusy, this.#problem, this.#progress, this.#done] = [true, '', '', 0];
    this.#draw();
    try {
      await step(signal);
    } catch (error) {
      if (this.#stop.signal === signal) this.#problem = inTitles((error as Error).message);
    }
    if (this.#stop.signal !== signal) return;
    this.#isBusy = false;
    this.#draw();
    // The button that was pressed may be gone, and a menu was disabled.
    const place = focused?.isConnected
      ? focused
      : this.querySelector<HTMLElement>('.notice button, [aria-label="Not clear"], .primary, .save button');
    if (!this.contains(document.activeElement)) place?.focus();
  }

  /** Reading a file that has changed fails by itself. */
  #importFiles(): Promise<readonly ImportFile[]> {
    const found = this.#files.map(async (file) => {
      const described = { ...describeFile(file.name, undefined), ...(this.#isKindChosen && { kind: this.#kind }) };
      const read = { ...described, bytes: () => bytesOf(file), isUnchanged: () => true };
      return read.kind ? read : { ...read, kind: await likelyKind(read, this.#kind) };
    });
    return Promise.all(found);
  }

  readonly #propose = (encoding?: string, isHeadless = this.#choices.columns !== undefined): Promise<void> =>
    this.#take(async (signal) => {
      const files = await this.#importFiles();
      const { language } = navigator;
      const viewer = await readViewer();
      const knownChoices = (columns: readonly ProposedColumn[]) =>
        remembered().find(([known]) => known === keyOfChoices(viewer.workspace.id, columns))?.[1];
      const isStopped = readEntry(this.#noteName(viewer)) !== null;
      const { columns, choices } = await propose(files, { language, encoding, isHeadless, knownChoices, isStopped });
      signal.throwIfAborted();
      [this.#columns, this.#choices, this.#asked] = [columns, choices, []];
      this.#isOpen = columns.length <= 8 || !areClear(columns, choices);
      await this.#check(signal);
    });

  /** The same files resume a stopped import. With other choices, they would store its rows again. */
  #noteName(viewer: Data): string {
    const versions = this.#files.map(({ name, size, lastModified }) => [name, size, lastModified]);
    return `import ${JSON.stringify([viewer, versions])}`;
  }

  readonly #change = (changed: Partial<Choices>): void => {
    this.#choices = { ...this.#choices, ...changed };
    // With other columns and keys, other rows are in doubt.
    if (changed.targets || changed.upsertBy) this.#asked = this.#asked.filter(({ message }) => message === mayBeTotal);
    this.#isChanged ||= Object.keys(changed).length > 0;
    void this.#take((signal) => this.#check(signal));
  };

  async #check(signal: AbortSignal): Promise<void> {
    [this.#work, this.#stored] = [undefined, undefined];
    const viewer = await readViewer();
    const profile = chosenProfile(this.#columns, this.#choices);
    const { encoding, columns } = this.#choices;
    const choices = JSON.stringify([profile, encoding]);
    const name = this.#noteName(viewer);
    const stopped = readEntry(name);
    if (stopped?.choices !== choices) {
      if (stopped?.id && (await findMadeChanges(client, stopped.id)))
        throw new Error(
          `an import of this file was stopped with other choices. Choose the same again, or undo it on the page “Imports”, and ${restart}`,
        );
      localStorage.removeItem(name);
    }
    const text = localStorage.getItem(name);
    const id = crypto.getRandomValues(new Uint32Array(2)).join('-');
    const answered = this.#asked.filter(({ answer }) => answer);
    // A row that one answer leaves out stays out, whatever another one says of it.
    const special = ['Import as new', 'Leave out'].flatMap((name) => answered.filter(({ answer }) => answer === name));
    const answers = Object.fromEntries(special.flatMap(({ answer, rows }) => rows.map((row) => [row, answer])));
    const run: ImportRun = text ? JSON.parse(text) : { ...(await startRun(client, id)), choices, answers };
    const changeMessage = uniqueMessage(`import of ${this.#names.slice(0, 100)}`, run.id);
    const yardgraph = new Yardgraph({ serverURL, changeMessage, importRun: run.id });
    const files = await this.#importFiles();
    const setting = { yardgraph, files, encoding, columns, partSize: 1_000, signal, onProgress: this.#count };
    const work = await prepare(profile, { ...setting, answers: run.answers });
    signal.throwIfAborted();
    [this.#work, this.#run, this.#note] = [work, run, { name, text }];
    this.#checked = text ? undefined : this.#checked;
    if (text) return requireResumable(work, run, restart);
    const checked = await preview(work);
    const explained = await explain(work, checked);
    const notes: string[] = [];
    const totals = { ...checked.totals, missing: new Map() };
    describeNotes(work, { ...checked, totals }, (note) => notes.push(inTitles(note)), true);
    signal.throwIfAborted();
    this.#checked = { ...checked, ...explained, notes };
    const keysOf = ({ message, rows }: Doubt) => rows.map((row) => `${message} ${row}`);
    const imported = new Set(answered.flatMap((doubt) => (doubt.answer === 'Leave out' ? [] : keysOf(doubt))));
    // A remedy may put other rows in the same doubt: all are asked about again.
    const open = [...checked.doubts.values()].filter((doubt) => keysOf(doubt).some((key) => !imported.has(key)));
    const isSettled = ({ answer, message }: Doubt) =>
      answer === 'Leave out' || open.every((doubt) => doubt.message !== message);
    // No button moves below the pointer.
    this.#asked = [...answered.filter(isSettled), ...open].toSorted((a, b) => (a.message < b.message ? -1 : 1));
  }

  #done = 0;
  readonly #count = (rows: number): void => {
    this.#done += rows;
    this.#progress = `${formatCount(this.#done)} of ${countedRows(this.#work?.scanned.total ?? 0)}`;
    this.#draw();
  };

  #store(): Promise<void> {
    const { name, text, isStale } = this.#note;
    const [work, run] = [this.#work as Import, this.#run as ImportRun];
    const ended = this.#take(async (signal) => {
      if (isStale || localStorage.getItem(name) !== text)
        throw new Error('an import of this file has begun, or ended, in another tab. Try again to go on with it');
      await readViewer();
      const save = () => {
        if (!writeEntry(name, run)) throw new Error('this browser has no room left to keep the state of an import');
      };
      save();
      this.#note = { name, text: JSON.stringify(run) };
      const key = keyOfChoices(run.workspace, this.#columns);
      const others = remembered().filter(([known]) => known !== key);
      writeEntry('yardgraph.imports', [[key, this.#choices], ...others.slice(0, 19)]);
      const refused = work.files.map((file) => {
        const texts: string[] = [];
        const name = file.name.replace(/(?:\.refused)?(\.\w{1,10})(?:\.gz)?$/, '.refused$1');
        return { name, texts, write: (part: string) => void texts.push(part), describe: inTitles };
      });
      const fileKeys = work.files.map((_, at) => String(at));
      const storing = { run, save, fileKeys, restart: text ? restart : undefined };
      const options = { storing, refusedFiles: refused, isPreviewed: !text };
      const { totals } = await store({ ...work, signal }, options, { say() {}, table() {} }).catch((error: Error) => {
        const soFar = `Stored or refused so far: ${this.#progress || 'no rows'}`;
        // The client's message is about idempotency keys.
        const what = (error as Data).mayBeStored
          ? 'The service did not say whether it stored the last rows'
          : error.message;
        throw new Error(`${what}. ${soFar}. Try again to go on: nothing is stored twice.`);
      });
      const { importRun: made } = await work.yardgraph.graphql(runDocument, { id: run.id });
      localStorage.removeItem(name);
      document.dispatchEvent(new Event('report'));
      [this.#refusedRows, this.#isChanged] = [totals.rows.REJECTED, false];
      this.#stored = { totals, refused: refused.filter(({ texts }) => texts.length > 0), made };
    });
    this.#isStoring = true;
    return ended.finally(() => (this.#isStoring = false));
  }

  #draw(): void {
    const close = button('Close', () => this.mayClose() && this.closest('dialog')?.close());
    const isShown = this.#columns.length > 0 && !this.#stored;
    const [columns, choices, isOpen] = [this.#columns, this.#choices, this.#isOpen];
    const shown = { columns, choices, isOpen, change: this.#change, read: this.#propose };
    render(
      html`<header class="row"><h2>Import ${this.#names} <small>${this.#work && countedRows(this.#work.scanned.total)}</small></h2></header>
        ${this.#files.length === 1 && !this.#stored ? this.#kindMenu() : nothing}
        ${this.#problem ? html`<p role="alert" class="error">${this.#problem}</p>` : nothing}
        ${this.#result()}
        <fieldset ?disabled=${this.#isBusy}>
          ${this.#checked && isShown && !this.#problem ? this.#doubts(this.#checked) : nothing}
          ${isShown ? columnTable(shown) : nothing}
          ${isShown ? settings(shown) : nothing}
        </fieldset>
        <p class="save row"><span role="status">${this.#isBusy ? `Working… ${this.#progress}` : this.#stored ? nothing : this.#sum()}</span>
          <span class="end row">${this.#isBusy ? button('Stop', () => this.#end()) : close} ${this.#next()}</span></p>`,
      this,
    );
  }

  #sum(): string {
    const { totals } = this.#stored ?? this.#checked ?? {};
    if (this.#problem || !this.#work) return '';
    if (!totals) return 'This import was stopped: what it has stored is not stored again.';
    const { CREATED, UPDATED, UNCHANGED, REJECTED } = totals.rows;
    const leftOut = this.#work.scanned.total - CREATED - UPDATED - UNCHANGED - REJECTED;
    const names = [...(this.#stored ? ['created', 'updated'] : ['new', 'changed']), 'unchanged', 'refused', 'left out'];
    return [CREATED, UPDATED, UNCHANGED, REJECTED, leftOut]
      .flatMap((count, at) => (count > 0 || at === 0 ? `${formatCount(count)} ${names[at]}` : []))
      .join(', ');
  }

  #next(): unknown {
    if (this.#isBusy) return nothing;
    if (this.#problem) return button('Try again', () => void (this.#work ? this.#change({}) : this.#propose()));
    const made = this.#stored?.made;
    if (made) return button('Undo', () => this.mayClose() && void undoRun(made));
    const { changed = 0, totals } = this.#checked ?? {};
    if (this.#stored || !this.#work || (changed === 0 && totals?.rows.REJECTED === 0)) return nothing;
    if (this.#asked.some(({ answer }) => !answer)) return html`<b>First answer the questions above.</b>`;
    const label = changed > 0 ? `Import ${countedRows(changed)}` : totals ? 'Get the refused rows' : 'Go on';
    return button(label, () => void this.#store(), 'primary');
  }

  #kindMenu() {
    const choose = (name: string) => {
      [this.#kind, this.#isKindChosen] = [kindNamed(name), true];
      void this.#propose();
    };
    const current = this.#columns[0]?.kind ?? this.#kind;
    const kinds = Object.fromEntries([...kindNames, 'Label'].map((name) => [name, title(kindOf(name).list)]));
    return html`<label class="row">The rows become ${menu(kinds, current?.name ?? '', choose)}</label>`;
  }

  #doubts(checked: Checked) {
    const { values, namesakes, totals, notes } = checked;
    const row = (value: Explained['values'][number]) => {
      const { message, line, text, count, renamed, fields } = value;
      const question =
        renamed && `The ID beside it is that of ${quote(renamed)}. Was it renamed after the file was written?`;
      return html`<tr>
        <th scope="row">${count === 1 ? `Line ${line}` : `${countedRows(count)} from line ${line}`}${text ? `: ${text}` : ''}
          <small>${count === 1 ? numberedName({ ...fields, id: '' }) : ''}</small></th>
        <td>${inTitles(message)}${question ? `. ${question}` : ''}
          <div class="row">${this.#remedy(value, checked)}</div></td></tr>`;
    };
    const table =
      () => html`<header class="row"><h2>Not clear</h2> <small>${countedRows(totals.rows.REJECTED)}</small></header>
      <div class="card scroll" tabindex="0" role="region" aria-label="Not clear"><table>
      <thead><tr>${['In the file', 'Problem'].map((head) => headOf(head))}</tr></thead>
      <tbody>${values.slice(0, 20).map(row)}</tbody></table></div>
      ${values.length > 20 ? html`<p><small>and ${formatCount(values.length - 20)} other problems</small></p>` : nothing}`;
    const stored = html`<p class="notice pad">${countedRows(namesakes.length)} with names of stored records, such as ${[...new Set(namesakes)].slice(0, 3).join(', ')}. They become second records.</p>`;
    return html`${this.#asked.map(this.#ask)} ${values.length > 0 ? table() : nothing} ${namesakes.length > 0 ? stored : nothing}
      ${[...totals.missing].map((missing) => this.#created(...missing))}
      ${this.#used()} ${changeTable(checked, checked)}
      <p>${notes.map((note) => html`<small>${note}</small><br>`)}</p>`;
  }

  readonly #ask = (doubt: Doubt): unknown => {
    const buttons = doubt.answers.map((answer) =>
      button(`${doubt.answer === answer ? '✓ ' : ''}${answer}`, () => {
        this.#asked = this.#asked.map((other) => (other === doubt ? { ...doubt, answer } : other));
        this.#change({});
      }),
    );
    const { message, first, rows } = doubt;
    const listed = `${first.join('; ')}${rows.length > first.length ? '; …' : ''}`;
    const times = listed.replace(/\b\d{4}-\d\d-\d\dT[\d:.]{8,12}Z/g, (time) => timeTexts(time).text);
    return notice(`${countedRows(rows.length)} ${inTitles(message)}: ${times}`, buttons, 'notice pad');
  };

  #remedy({ text, link, meant, creatable }: Checked['values'][0], { values, keys }: Checked): unknown {
    const { names, createMissing, targets } = this.#choices;
    const column = this.#columns.find((it) => keyOf(it.kind, targets[columnId(it)]) === link);
    const become = (target: string) => ({ targets: { ...targets, [column ? columnId(column) : '']: target } });
    const use = (name: string) => this.#change({ names: { ...names, [link]: { ...names[link], [text ?? '']: name } } });
    const correct = html`<small>Correct it in the file that you get.</small>`;
    const using = meant.map((name) => button(`Use ${quote(name)}`, () => use(name)));
    const key = creatable && keys.get(creatable);
    // Rows that are found by names would be refused.
    if (key && column?.texts.every((it) => values.some((other) => other.link === link && other.text === it)))
      return button(`Use the ${creatable.label} with this ${words(key)}`, () => this.#change(become(`${link}.${key}`)));
    if (!creatable || key) return meant.length > 0 ? using : correct;
    const typeOf = (name: string) => kindNames.map((kind) => kindOf(kind).fields[name]).find(Boolean) ?? '';
    const list = creatable.name === 'Label' ? typeOf(link) : listField(creatable);
    const all = values.filter((other) => other.creatable === creatable && typeOf(other.link) === typeOf(link));
    const what = creatable.name === 'Label' ? `each missing ${words(list)}` : `all missing ${creatable.pluralLabel}`;
    const label = all.length === 1 ? 'Create it' : `Create ${what}`;
    return html`${using} ${button(label, () => this.#change({ createMissing: [...createMissing, list] }))}`;
  }

  #created(kind: RecordKind, names: ReadonlySet<string>): unknown {
    if (names.size === 0) return nothing;
    const lists = [listField(kind), ...(kind.name === 'Label' ? labelledTypes : [])];
    const createMissing = this.#choices.createMissing.filter((list) => !lists.includes(list));
    // Labels have keys here, such as `ASSET_TYPE:Crane`.
    const ofLabel = (key: string) => key.replace(/^\w+:/, (type) => type.replace(/[_:]/g, ' ').toLowerCase());
    const first = [...names].slice(0, 5).map(kind.name === 'Label' ? ofLabel : String);
    const count = kind.name === 'Label' ? '' : `${pluralize(names.size, kind)}, `;
    const text = `${count}${first.join(', ')}${names.size > 5 ? ', …' : ''}`;
    if (this.#stored) return html`<p>Created for links to them: ${text}</p>`;
    return html`<p class="row">To create: ${text} ${button('Do not create', () => this.#change({ createMissing }))}</p>`;
  }

  #used(): unknown {
    const { names } = this.#choices;
    // The columns have the texts of the first 500 rows.
    const isLong = Number(this.#work?.scanned.total) > 500;
    return Object.entries(names).map(([link, texts]) =>
      Object.entries(texts).map(([text, name]) => {
        if (!isLong && this.#columns.every((column) => !column.texts.includes(text.trim()))) return nothing;
        const { [text]: _, ...others } = texts;
        const leave = () => this.#change({ names: { ...names, [link]: others } });
        return html`<p class="row">${text} → ${name} ${button('Do not use', leave)}</p>`;
      }),
    );
  }

  #result(): unknown {
    if (!this.#stored) return nothing;
    const { totals, refused, made } = this.#stored;
    const records = html`<a class="button primary" href=${addressOf({ view: 'imports', id: made?.id })}>Show the records</a>`;
    const download = ({ name, texts }: (typeof refused)[number]) => html`<p>Not stored, with the reasons:
      <a class="link" href=${URL.createObjectURL(new Blob([...texts]))} download=${name}
        @click=${() => (this.#refusedRows = 0)}>${name}</a>. Correct the rows, and drop that file.</p>`;
    return html`<p><b>${made ? '' : 'Nothing was stored. '}${this.#sum()}</b> ${made ? records : nothing}</p>
      ${[...totals.missing].map((missing) => this.#created(...missing))} ${refused.map(download)}`;
  }
}
/** Undoes an import of the list, as a run of its own. Returns the message of its end. */
export async function undoImport({ id, message }: Data): Promise<string> {
  // The service takes at most 500 characters.
  const changeMessage = `Undo of ${message ?? id}`.slice(0, 500);
  const yardgraph = new Yardgraph({ serverURL, changeMessage });
  await readViewer();
  const made = await findMadeChanges(yardgraph, id);
  if (!made || made.message === null)
    throw new Error('others have made changes meanwhile, and no message tells which ones are its own');
  const counts = { reversed: 0, kept: 0, made: 0 };
  const unlike = new Map<string, Set<string>>();
  let stop = '';
  try {
    for await (const part of revertInParts(yardgraph, made, { importRun: undoRunId(id) })) {
      counts.reversed += part.reversed;
      counts.kept += part.kept + part.failed;
      counts.made += part.made;
      for (const { outcome, message: reason, recordId } of part.notReversed) {
        const isUsed = reason.includes('referenced by');
        const why = outcome === 'KEPT' ? 'changed since' : isUsed ? 'used since' : 'that cannot go back';
        const key = `${kindOfId(recordId)?.name} ${why}`;
        unlike.set(key, (unlike.get(key) ?? new Set()).add(recordId));
      }
    }
  } catch (error) {
    if (counts.made === 0) throw error;
    const { message, mayBeStored } = error as Data;
    const reason = mayBeStored ? 'it is not known whether the next part was undone' : message;
    stop = ` It stopped there: ${reason}. “Undo the rest” is on the page “Imports”.`;
  }
  if (counts.made === 0) throw new Error('it was undone already, or all its records have changed since');
  const undone = `${pluralize(counts.reversed, { label: 'change', pluralLabel: 'changes' })} undone`;
  const reasons = [...unlike].map(([key, { size }]) => key.replace(/^\S+/, (kind) => pluralize(size, kindNamed(kind))));
  return `${undone}${counts.kept > 0 ? `, ${formatCount(counts.kept)} not undone: ${reasons.join(', ')}` : ''}.${stop}`;
}

customElements.define('import-dialog', ImportDialog);

/** Opens a dialog that previews the files, unless an earlier one stores rows, or has refused ones. */
export function openImport(kind: string | undefined, files: readonly File[]): void {
  if (document.querySelector<ImportDialog>('import-dialog')?.mayClose() !== false) new ImportDialog().open(kind, files);
}
