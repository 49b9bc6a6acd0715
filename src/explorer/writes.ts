/** Stores and deletes records, and shows a message after each write, with its undo. */
import { html, nothing, render } from 'lit-html';
import { kindOf } from './kinds.ts';
import { query } from './queries.ts';
import { type Data, yardgraph } from './service.ts';

/** The changes after a cursor, up to another one: all of them, or those with a message. */
interface ChangeRange {
  readonly after: string;
  readonly upTo: string;
  readonly message?: string;
}

const mutationName = (action: string, kind: string): string =>
  action + kindOf(kind).list.replace(/^./, (letter) => letter.toUpperCase());

/** Writes a mutation of one record with its values, as anybody can send it. */
export const mutationText = (action: 'create' | 'update', kind: string, item: Data): string =>
  `mutation {\n  ${query(mutationName(action, kind), { input: [item] }, 'id')}\n}`;

/** True for a message that only serves the undo of a write. */
export const isOfUndo = (message: string): boolean => / in the explorer \(\w{1,7}\)$/.test(message);

/** Runs a write with a message of its own, by which an undo finds its changes among those of others. */
async function tracked<T>(action: string, write: (changeMessage: string) => Promise<T>) {
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1));
  const message = `${action} in the explorer (${number.toString(36)})`;
  const after = await yardgraph.changeCursor();
  const result = await write(message);
  return { result, range: { after, upTo: await yardgraph.changeCursor(), message } };
}

/** Stores records. Returns them with the range of their changes, if any of them has changed. */
export async function store(action: 'create' | 'update', kind: string, input: readonly Data[]) {
  const name = mutationName(action, kind);
  const type = action === 'create' ? `Create${kind}Input` : `${kind}Patch`;
  const document = `mutation ($input: [${type}!]!) { ${name}(input: $input) { id updatedAt } }`;
  const { result, range } = await tracked(`${action}d`, (changeMessage) =>
    yardgraph.graphql(document, { input }, { changeMessage }),
  );
  const records: readonly Data[] = result[name];
  const isChanged = records.some(({ updatedAt }, index) => updatedAt !== input[index]?.ifUpdatedAt);
  return { records, range: isChanged ? range : undefined };
}

interface Deletion {
  readonly kind: string;
  readonly id: string;
  /** Whether links of other records to this one are cleared, or an error. */
  readonly references: 'CLEAR' | 'REFUSE';
}

export async function checkDeletion({ kind, id, references }: Deletion): Promise<string | undefined> {
  const options = { references, dryRun: true } as const;
  return yardgraph[kindOf(kind).list as 'assets'].delete([id], options).then(
    () => undefined,
    ({ items, message }) => items?.[0]?.message ?? message,
  );
}

/** Other records lose their links to the record: their changes have the same message. */
export async function deleteRecord({ kind, id, references }: Deletion): Promise<ChangeRange> {
  const { range } = await tracked('deleted', (changeMessage) =>
    yardgraph[kindOf(kind).list as 'assets'].delete([id], { references, changeMessage }),
  );
  return range;
}

/** Stays on the page from view to view, until somebody closes it. */
class UndoMessage extends HTMLElement {
  show(text: string, undo?: () => Promise<void>): void {
    const close = () => this.show('');
    const content = html`<span>${text}</span>
      ${undo ? html`<button type="button" @click=${undo}>Undo</button>` : nothing}
      <button type="button" class="bare" aria-label="Close" @click=${close}>×</button>`;
    render(
      html`<div role="status" class=${text ? 'toast floats pad row' : ''}>${text ? content : nothing}</div>`,
      this,
    );
  }
}
customElements.define('undo-message', UndoMessage);

/** Shows a message, with an undo of the changes. */
export function report(text: string, range?: ChangeRange): void {
  const message = document.querySelector<UndoMessage>('undo-message') ?? document.createElement('undo-message');
  document.body.append(message);
  (message as UndoMessage).show(text, range && (() => undo(range)));
}

export async function undo(range: ChangeRange): Promise<void> {
  report('Undoing…');
  report(
    await yardgraph.revertChanges(range, { changeMessage: 'Undo' }).then(
      ({ reversed, notReversed: [kept, ...others] }) => {
        if (!kept) return reversed === 1 ? 'Undone.' : `${reversed} changes undone.`;
        if (reversed + others.length === 0) return `Not undone: ${kept.message}.`;
        return `${reversed} changes undone, ${others.length + 1} not undone: ${kept.message}.`;
      },
      ({ message }: Error) => `Not undone: ${message}.`,
    ),
  );
}
