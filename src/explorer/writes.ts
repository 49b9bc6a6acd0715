/** Stores and deletes records, and shows a message after each write, with its undo. */
import { html, nothing, render } from 'lit-html';
import type { ChangeNotReversed, ChangeRange } from '../../client/index.ts';
import { capitalized } from '../model/labels.ts';
import type { View } from './address.ts';
import { kindOf, kindOfChange, numberedName, title, words } from './kinds.ts';
import { atMost, namesOf, query } from './queries.ts';
import { type Data, type Page, read, yardgraph } from './service.ts';
import { button, timeTexts } from './values.ts';

/** The mutation that stores an item. The item of a new record has no ID. */
function mutationOf(kind: string, { id }: Data = {}, rejectsClashes = false) {
  const onClash = rejectsClashes && kind === 'Allocation' ? ', onClash: REJECT' : '';
  const action = id === undefined ? 'create' : 'update';
  const name = action + capitalized(kindOf(kind).list);
  const type = action === 'create' ? `Create${kind}Input` : `${kind}Patch`;
  return { action, name, document: `mutation ($input: [${type}!]!) { ${name}(input: $input${onClash}) { id } }` };
}

/** Writes a mutation as anybody can send it. A system such as `SAP ERP` is no name in GraphQL, but in variables. */
export function mutationText(kind: string, item: Data): string {
  const { name, document } = mutationOf(kind, item);
  const input = [item];
  const hasNames = Object.keys(item.externalIds ?? {}).every((system) => /^[a-z_]\w*$/i.test(system));
  if (hasNames) return `mutation {\n  ${query(name, { input }, 'id')}\n}`;
  return `${document}\n\n# Variables: ${JSON.stringify({ input })}`;
}

/** Matches a message that only serves the undo of a write, with the number of its records; earlier, `Undo`. */
export const undoMessage = /^(?:Undo|\w{1,7} (?:[a-z ]{1,20} \((\d{1,4})\) )?in the explorer \(\w{1,7}\))$/;

/** Entering another key reloads the page, unless its entries keep it open. */
export function requireWorkspace({ workspace }: Data): void {
  if (workspace.id !== document.body.dataset.workspace)
    throw new Error('the key is of another workspace than this page. Load the page again');
}

/** Runs a write with a message of its own, by which an undo finds its changes among those of others. */
async function tracked<T>(action: string, write: (changeMessage: string) => Promise<T>) {
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1));
  const message = `${action} in the explorer (${number.toString(36)})`;
  const { changeCursor: after, viewer } = await read('changeCursor viewer { workspace { id } }');
  requireWorkspace(viewer);
  const result = await write(message);
  // The write is stored, whatever comes of this request.
  const upTo = await yardgraph.changeCursor().catch(() => undefined);
  return { result, range: upTo === undefined ? undefined : { after, upTo, message } };
}

/** Stores records, all or none. Returns them with the range of their changes. */
export async function store(kind: string, input: readonly Data[], rejectsClashes = false) {
  const { action, name, document } = mutationOf(kind, input[0], rejectsClashes);
  const write = (changeMessage: string) => yardgraph.graphql(document, { input }, { changeMessage });
  const { result, range } = await tracked(`${action}d ${words(kindOf(kind).list)} (${input.length})`, write);
  const records: readonly Data[] = result[name];
  return { records, range };
}

const [message, page] = ['message', 'main'].map((id) => document.getElementById(id)) as [HTMLElement, HTMLElement];

/** Shows a message, which may undo the changes of a range. For the keyboard, it is before the content. */
export function report(text: string, range?: ChangeRange, options: UndoOptions = {}): void {
  message.dataset.pages = range || document.querySelector('record-form') ? '0' : '1';
  if (text) document.dispatchEvent(new Event('report'));
  const { word, label = word === 'redone' ? 'Redo' : 'Undo' } = options;
  const content = html`<span>${text}</span> ${range ? button(label, () => void undo(range, options)) : nothing}
    <button type="button" class="bare" aria-label="Close" @click=${() => report('')}>×</button>`;
  render(
    html`<div role="status" tabindex="-1" class=${text ? 'toast floats pad row' : ''}
      @keydown=${({ key }: KeyboardEvent) => key === 'Escape' && report('')}>${text ? content : nothing}</div>`,
    message,
  );
  // A button that was pressed here is gone.
  if (document.activeElement === document.body || (!text && message.contains(document.activeElement)))
    (document.querySelector<HTMLElement>(text ? '#message [role]' : '.bulk button') ?? page).focus();
}

/** A message with an undo, or of a form, goes along to the next page, and no further. A form is for another write. */
export function leaveReport({ view = '' }: View): void {
  if (message.dataset.pages === '1' || ['new', 'edit'].includes(view)) report('');
  else if (message.dataset.pages) message.dataset.pages = '1';
}

/** People know the name of a record, and when a change was made, and not its number. */
async function reasonOf(kept: ChangeNotReversed): Promise<string> {
  // The records that refer to this one follow, by their IDs.
  if (kept.outcome !== 'KEPT') return kept.message.replace(/(?<=referenced by \d{1,7} [a-z ]{1,20}): .{1,500}/, '');
  const [id, kind] = [kept.recordId, kindOfChange(kept)];
  const queries = [query('history', { id, first: 1 }, 'nodes { at }'), query(kindOf(kind).one, { id }, namesOf(kind))];
  // The undo is over, whatever comes of this request.
  const { history, [kindOf(kind).one]: record }: Data = await read(...queries).catch(() => ({}));
  const { text } = timeTexts(history?.nodes[0]?.at ?? '');
  return `${record ? numberedName(record) : 'the record'} has changed since${text && `, last on ${text}`}`;
}

/** A write may be stored although its response is not here. */
export const failure = (what: string, { message, mayBeStored }: Data): string =>
  mayBeStored
    ? 'It is not known whether the service has done this. Look before you try again.'
    : `${what}: ${message}.`;

interface UndoOptions {
  /** By default `undone`. A button that has `redone` says *Redo*, and any other *Undo*. */
  readonly word?: 'undone' | 'redone' | 'restored';
  /** The text of the button in the message. */
  readonly label?: string;
  /** The record that a message names in place of the number of changes. */
  readonly noun?: string;
  /** Called once all changes are undone. */
  onUndone?(): void;
}

export async function undo(range: ChangeRange | Promise<ChangeRange>, options: UndoOptions = {}): Promise<void> {
  const { word = 'undone', noun, onUndone = () => {} } = options;
  report('Working…');
  let undoing: ChangeRange | undefined;
  try {
    undoing = await range;
    const [, count = 1] = undoMessage.exec(undoing.message ?? '') ?? [];
    const changes = undoing;
    const write = (changeMessage: string) => yardgraph.revertChanges(changes, { changeMessage });
    const { result, range: own } = await tracked(`Undo changes (${count})`, write);
    const { made, reversed, notReversed } = result;
    const [kept] = notReversed;
    const counted = `${reversed} ${reversed === 1 ? 'change' : 'changes'} ${word}`;
    const some = reversed + notReversed.length === 1 ? `Not ${word}` : `${counted}, ${notReversed.length} not ${word}`;
    if (!kept) onUndone();
    const text = noun ? `${noun} ${word}.` : reversed === 1 ? `${capitalized(word)}.` : `${counted}.`;
    const all = made === 0 ? `This was ${word} already.` : text;
    const more = notReversed.length > 1 ? `, and ${notReversed.length - 1} other changes` : '';
    report(kept ? `${some}: ${await reasonOf(kept)}${more}.` : all, made > 0 ? own : undefined, {
      word: word === 'undone' ? 'redone' : 'undone',
    });
  } catch (error) {
    // A second try undoes nothing twice.
    report(failure(`Not ${word}`, error as Error), undoing, { ...options, label: 'Try again' });
  }
  // It leads to no other page.
  message.dataset.pages = '1';
}

/** A deletion, with the changes of its request just before it that cleared links to the record. */
export async function rangeOfDeletion({ cursor, recordId }: Data): Promise<ChangeRange> {
  const { changeHorizon } = await read('changeHorizon');
  const first = Math.min(atMost(500), Number(cursor) - Number(changeHorizon ?? 0));
  const after = String(Number(cursor) - first);
  const selection = 'nodes { cursor requestId recordId fields { before } }';
  const nodes: readonly Data[] = (await read(query('changes', { after, first }, selection))).changes.nodes;
  const deletion = nodes.at(-1);
  const hasCleared = ({ requestId, fields }: Data) =>
    requestId === deletion?.requestId && fields.some(({ before }: Data) => before === recordId);
  const other = nodes.findLast((change) => change !== deletion && !hasCleared(change));
  return { after: other?.cursor ?? after, upTo: cursor };
}

/** The changes of a write of `count` records follow one another. Others in this range have another message. */
export async function rangeOfWrite({ cursor, message }: Data, count: number): Promise<ChangeRange> {
  const { changeCursor, changeHorizon } = await read('changeCursor changeHorizon');
  const after = Math.max(Number(cursor) - count, Number(changeHorizon ?? 0));
  return { after: String(after), upTo: String(Math.min(Number(cursor) + count, Number(changeCursor))), message };
}

const recordsOf = (kind: string) => yardgraph[kindOf(kind).list as 'assets'];

/** Says which records keep this one from being deleted. */
async function findReferences(kind: string, id: string, references: 'CLEAR' | 'REFUSE'): Promise<string | undefined> {
  try {
    await recordsOf(kind).delete([id], { references, dryRun: true });
    return undefined;
  } catch (error) {
    const issue = (error as Data).items?.find(({ code }: Data) => code === 'referenced');
    const isGone = (error as Data).items?.some(({ code }: Data) => code === 'no-record');
    // This has stored nothing, even where nobody knows its result.
    if (!issue) throw new Error(isGone ? 'somebody has deleted this record meanwhile' : (error as Error).message);
    return issue.message;
  }
}

const countsOfReferences = (message: string) => message.split(/ is referenced by |:/)[1];

/** Asks before it deletes a record, and says which records refer to it. */
export async function deleteRecord(kind: string, record: Data, page: Page): Promise<void> {
  const name = numberedName(record);
  try {
    const found = await findReferences(kind, record.id, 'REFUSE');
    const needed = found && (await findReferences(kind, record.id, 'CLEAR'));
    if (needed)
      return report(
        `${name} cannot be deleted, because it is needed by ${countsOfReferences(needed)}, listed on this page.`,
      );
    const cleared = `It is used by ${countsOfReferences(found ?? '')}. Links to this ${words(kind)} are cleared, and nothing else is deleted.`;
    if (!confirm(`Delete ${name}? ${found ? cleared : 'No other record refers to it.'}`)) return;
    // Others may have linked to it since.
    if ((await findReferences(kind, record.id, 'REFUSE')) !== found) return deleteRecord(kind, record, page);
    // Other records lose their links to this one: their changes have the same message.
    const references = found ? 'CLEAR' : 'REFUSE';
    const write = (changeMessage: string) => recordsOf(kind).delete([record.id], { references, changeMessage });
    const { range } = await tracked('deleted', write);
    report(`${title(kind)} deleted.`, range, { word: 'restored', noun: title(kind) });
    await page.refresh();
  } catch (error) {
    report(failure('Not deleted', error as Error));
  }
}
