/** All imports, the latest first: of this page, of the command and of programs. Each leads to its records. */
import { html, nothing } from 'lit-html';
import { constantCase } from '../model/labels.ts';
import { addressOf } from './address.ts';
import { kindNames, kindOf, nameOf, title, undoRunId } from './kinds.ts';
import { atMost, query, rowsOf } from './queries.ts';
import { type Data, type Page, read, type Viewer } from './service.ts';
import { button, cellOf, notice, recordTable, tableOf, toOverview } from './values.ts';
import { failure, report } from './writes.ts';

/** The name of the file, without the ID that makes the message unique. An undo of an undo is the import again. */
const fileOf = ({ message, id }: Data): string =>
  (message ?? id).replace(/import of | \([\w-]{1,64}\)$/g, '').replace(/^(?:Undo of Undo of )+(.*)/s, '$1 again');

const countsOf = (run: Data, words = { created: 'new', updated: 'changed', deleted: 'deleted' }): string =>
  Object.entries(words)
    .flatMap(([what, word]) => (run[what] > 0 ? `${run[what].toLocaleString()} ${word}` : []))
    .join(', ');

export async function importFiles(kind: string | undefined, list: Iterable<File>): Promise<void> {
  // The list is empty once the event is over.
  const files = [...list];
  const { openImport } = await import('./import.js');
  openImport(kind, files);
}

export function chooseFiles(kind?: string): void {
  const input = Object.assign(document.createElement('input'), { type: 'file', multiple: true });
  input.onchange = () => void importFiles(kind, input.files ?? []);
  input.click();
}

/** Asks before it undoes an import, of this page or of a dialog. */
export async function undoRun(run: Data, page?: Page, isRest = false): Promise<void> {
  const name = fileOf(run).replace(/^(?:Undo of )?/, (undo) => (undo ? 'the undo of ' : 'the import of '));
  const undone = { created: 'will be deleted', updated: 'will be changed back', deleted: 'will be stored again' };
  const shown = name.replace(/ again$/, '');
  const question = `Undo ${shown}? Of its records, ${countsOf(run, undone)}.`;
  if (!confirm(isRest ? `Undo the rest of ${shown}, but for what others have changed?` : question)) return;
  document.querySelector<HTMLDialogElement>('dialog.import')?.close();
  report(`Undoing ${name}…`);
  const { undoImport } = await import('./import.js');
  report(await undoImport(run).catch((error) => failure('Not undone', error)));
  await page?.refresh();
}

/** The button that undoes an import, or when and by whom it was undone. An undo is a later run, which may be undone. */
function undoOf(run: Data, undo: Data | undefined, page: Page) {
  // The import may have gone on since.
  if (!undo || Number(undo.upTo) < Number(run.upTo))
    return page.mayWrite() ? button('Undo', () => void undoRun(run, page)) : nothing;
  // Others have changed the rest, or the undo was stopped. An undo may reverse several updates of a record by one.
  const isWhole = run.created <= undo.deleted && run.deleted <= undo.created;
  const hasRest = !isWhole || undo.updated < run.updated;
  const rest = hasRest && page.mayWrite() ? button('Undo the rest', () => void undoRun(run, page, true)) : nothing;
  return html`${isWhole ? 'undone' : 'partly undone'} ${cellOf('DateTime', undo.startedAt)}
    ${undo.user ? `by ${nameOf(undo.user)}` : nothing} ${rest}`;
}

function listOf({ nodes, pageInfo }: Data, page: Page) {
  if (nodes.length === 0) return notice('No file was imported yet', page.mayWrite() ? nothing : toOverview);
  const undoIn = ({ id }: Data) => nodes.find((other: Data) => other.id === undoRunId(id));
  const row = (run: Data) => [
    html`<a href=${addressOf({ view: 'imports', id: run.id })}>${fileOf(run)}</a> <div><small>${countsOf(run)}</small></div>`,
    cellOf('DateTime', run.startedAt),
    run.user && nameOf(run.user),
    undoOf(run, undoIn(run), page),
  ];
  const widths = { file: 'name', time: 'date', user: 'more', undo: 'date' };
  const next = html`<p><a class="button" href=${addressOf({ view: 'imports', after: pageInfo.endCursor })}>Earlier imports</a></p>`;
  const ids = nodes.map(({ id }: Data) => id);
  return html`${tableOf('Imports', widths, nodes.map(row), ids)} ${pageInfo.hasNextPage ? next : nothing}`;
}

const fields = 'id startedAt user { id name } message created updated deleted after upTo';
const page = `nodes { ${fields} } pageInfo { hasNextPage endCursor }`;

export const imports: Viewer = {
  queries: ({ after }) => [query('importRuns', { first: atMost(50), after }, page)],
  draw: (_, { importRuns }, page) => ({
    title: 'Imports',
    actions: page.mayWrite() ? button('Import a file', () => chooseFiles(), 'primary') : nothing,
    content: importRuns && listOf(importRuns, page),
  }),
};

/** The records of an import as they are now: those of its first changes, or of the changes after a cursor. */
export const imported: Viewer = {
  queries: (_, { part }) => (part ? [part] : []),
  async *read({ id = '', after }) {
    const undoing = `undo: ${query('importRun', { id: undoRunId(id) }, fields)}`;
    const { importRun: run, undo } = await read(query('importRun', { id }, fields), undoing);
    if (!run) return yield { run };
    const sent = { after: after ?? run.after, first: atMost(100) };
    const part = query('changes', sent, 'nodes { cursor kind recordId message } endCursor');
    const { changes } = await read(part);
    // Others may have made changes in between.
    const isAlone = run.upTo - run.after === run.created + run.updated + run.deleted;
    const isOwn = ({ cursor, message }: Data) => Number(cursor) <= run.upTo && (isAlone || message === run.message);
    const own = changes.nodes.filter(isOwn);
    const lists = kindNames.map((kind) => {
      const ids = own.flatMap((change: Data) => (change.kind === constantCase(kind) ? change.recordId : []));
      return query(kindOf(kind).list, { first: atMost(100), where: { id: { in: ids } } }, rowsOf(kind));
    });
    yield { run, undo, part, end: changes.endCursor, ...(await read(...lists)) };
  },
  draw(view, { run, undo, end, ...data }, page) {
    const none = notice('None of these records is stored now', toOverview);
    if (!run) return { title: 'Import', content: run === null ? none : nothing };
    const tables = kindNames.flatMap((kind) => {
      const { list } = kindOf(kind);
      const { nodes } = data[list];
      return nodes.length > 0 ? [html`<h2>${title(list)}</h2> ${recordTable(kind, nodes, title(list))}`] : [];
    });
    const next = html`<p><a class="button" href=${addressOf({ ...view, after: end })}>More records</a></p>`;
    const content = html`${tables.length > 0 ? tables : none} ${Number(end) < run.upTo ? next : nothing}`;
    const crumb = html`<a href=${addressOf({ view: 'imports' })}>Imports</a>`;
    return {
      title: fileOf(run),
      note: undo ? '' : countsOf(run),
      crumb,
      actions: html`<small>${undoOf(run, undo, page)}</small>`,
      content,
    };
  },
};
