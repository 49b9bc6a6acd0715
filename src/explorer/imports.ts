/** All imports, the latest first: of this page, of the command and of programs. */
import { html, nothing } from 'lit-html';
import { addressOf } from './address.ts';
import { nameOf, undoRunId } from './kinds.ts';
import { atMost, query } from './queries.ts';
import type { Data, Page, Viewer } from './service.ts';
import { button, cellOf, notice, tableOf, toOverview } from './values.ts';
import { report } from './writes.ts';

/** The name of the file, without the ID that makes the message unique. An undo of an undo is the import again. */
const fileOf = ({ message, id }: Data): string =>
  (message ?? id).replace(/import of | \([\w-]{1,64}\)$/g, '').replace(/^(?:Undo of Undo of )+(.*)/s, '$1 again');

const countsOf = ({ created, updated, deleted }: Data): string =>
  Object.entries({ new: created, changed: updated, deleted })
    .flatMap(([what, count]) => (count > 0 ? `${count.toLocaleString()} ${what}` : []))
    .join(', ');

async function undoRun(run: Data, page: Page): Promise<void> {
  if (!confirm(`Undo ${fileOf(run)}? ${countsOf(run)}`)) return;
  report(`Undoing ${fileOf(run)}…`);
  const { undoImport } = await import('./import.js');
  report(await undoImport(run).catch(({ message }: Error) => `Not undone: ${message}.`));
  await page.refresh();
}

function listOf({ nodes, pageInfo }: Data, page: Page) {
  if (nodes.length === 0) return notice('No file was imported yet', toOverview);
  // An undo is a later run, which may be undone itself. The import may have gone on since.
  const undoOf = (run: Data): Data | undefined => {
    const undo = nodes.slice(0, nodes.indexOf(run)).find(({ id }: Data) => id === undoRunId(run.id));
    return Number(undo?.upTo) > Number(run.upTo) ? undo : undefined;
  };
  const lastCell = (run: Data) => {
    const undo = undoOf(run);
    if (!undo) return page.mayWrite() ? button('Undo', () => void undoRun(run, page)) : nothing;
    // An undo may reverse several updates of a record by one: they do not tell how many were kept.
    const kept = Math.max(0, run.created - undo.deleted) + Math.max(0, run.deleted - undo.created);
    return html`undone${kept > 0 ? `, but for ${kept.toLocaleString()}` : ''} ${cellOf('DateTime', undo.startedAt)}
      ${undo.user ? `by ${nameOf(undo.user)}` : nothing}`;
  };
  const row = (run: Data) => [
    fileOf(run),
    html`${cellOf('DateTime', run.startedAt)}<div><small>${countsOf(run)}</small></div>`,
    run.user && nameOf(run.user),
    lastCell(run),
  ];
  const widths = { file: 'name', time: 'date', user: 'more', undo: 'date' };
  const next = html`<p><a class="button" href=${addressOf({ view: 'imports', after: pageInfo.endCursor })}>Earlier imports</a></p>`;
  const ids = nodes.map(({ id }: Data) => id);
  return html`${tableOf('Imports', widths, nodes.map(row), ids)} ${pageInfo.hasNextPage ? next : nothing}`;
}

export const imports: Viewer = {
  queries: ({ after }) => {
    const counts = 'created updated deleted';
    const fields = `nodes { id startedAt user { id name } message ${counts} after upTo } pageInfo { hasNextPage endCursor }`;
    return [query('importRuns', { first: atMost(50), after }, fields)];
  },
  draw: (_, { importRuns }, page) => ({ title: 'Imports', content: importRuns && listOf(importRuns, page) }),
};
