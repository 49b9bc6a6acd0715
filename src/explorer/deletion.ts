/** The dialog before a record is deleted: it says which records refer to it. */
import { html, render } from 'lit-html';
import { nameOf, title, words } from './kinds.ts';
import type { Data, Page } from './service.ts';
import { button } from './values.ts';
import { checkDeletion, deleteRecord, report } from './writes.ts';

/** Opens an empty dialog, which is removed once it is closed, or another page is open. */
export function openDialog(label: string): HTMLDialogElement {
  const dialog = Object.assign(document.createElement('dialog'), { className: 'floats pad', ariaLabel: label });
  dialog.addEventListener('close', () => dialog.remove());
  window.navigation?.addEventListener('navigatesuccess', () => dialog.close(), { once: true });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Without the list of their IDs. */
const withoutIds = (message: string): string => message.replace(/^this .*? is /, '').replace(/:.*/, '');

async function effectOf(kind: string, id: string) {
  const refused = await checkDeletion({ kind, id, references: 'REFUSE' });
  if (refused === undefined) return { references: 'REFUSE', text: 'No other record refers to it.' } as const;
  const blocked = await checkDeletion({ kind, id, references: 'CLEAR' });
  if (blocked !== undefined) return { text: `It cannot be deleted, because it is ${withoutIds(blocked)}.` };
  const text = `It is ${withoutIds(refused)}. Links to this ${words(kind)} are cleared, and nothing else is deleted.`;
  return { references: 'CLEAR', text } as const;
}

export async function openDeletion(kind: string, record: Data, page: Page): Promise<void> {
  const name = nameOf(record);
  const dialog = openDialog(`Delete ${name}`);
  const draw = (text: string, confirm?: () => Promise<void>) => {
    const remove = html`<button type="button" class="danger" ?hidden=${!confirm} @click=${confirm}>Delete</button>`;
    render(
      html`<h2>Delete ${name}?</h2> <p role="status">${text}</p>
        <p class="row">${remove} ${button('Cancel', () => dialog.close())}</p>`,
      dialog,
    );
  };
  const remove = async (references: 'CLEAR' | 'REFUSE') => {
    draw('Deleting…');
    const range = await deleteRecord({ kind, id: record.id, references });
    dialog.close();
    report(`${title(kind)} deleted.`, range);
    await page.refresh();
  };
  draw('Looking for records that refer to it…');
  const { text, references } = await effectOf(kind, record.id);
  draw(text, references && (() => remove(references).catch(({ message }) => draw(`Not deleted: ${message}.`))));
}
