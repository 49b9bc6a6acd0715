/** The latest deletions, of a kind or of all: each can be restored, and leads to the page of the deleted record. */
import { html, nothing } from 'lit-html';
import { constantCase } from '../model/labels.ts';
import { addressOf } from './address.ts';
import { kindOf, kindOfChange, nameOf, title, words } from './kinds.ts';
import { atMost, query } from './queries.ts';
import { deletedName, readNames, restoreButton } from './record.ts';
import { type Data, type Page, read, type Viewer } from './service.ts';
import { link, notice, phoneLine, tableOf, time } from './values.ts';

const fields = 'cursor action kind recordId at user { id name } record { id } fields { field before after }';

function rowOf(change: Data, names: Data, page: Page): readonly unknown[] {
  const kind = kindOfChange(change);
  const name = html`${link(kind, { id: change.recordId, name: deletedName(change, names) })} ${phoneLine({ name: title(kind) })}`;
  const by = change.user && html`<div><small>by ${nameOf(change.user)}</small></div>`;
  return [name, title(kind), html`${time(change.at)} ${by}`, restoreButton(kind, change, page)];
}

export const deleted: Viewer = {
  queries: (_, { part }) => (part ? [part] : []),
  /** Looks through the changes from the latest on, until it has found enough, or has looked through many. */
  async *read({ kind, after }) {
    const { changeCursor, changeHorizon } = await read('changeCursor changeHorizon');
    const horizon = Number(changeHorizon ?? 0);
    const kinds = kind && [Symbol(constantCase(kind))];
    const changes: Data[] = [];
    let [start, part] = [Number(after ?? changeCursor), ''];
    for (let parts = 0; parts < 10 && start > horizon && changes.length < 50; parts += 1) {
      const [first, end] = [Math.min(atMost(500), start - horizon), start];
      start -= first;
      part = query('changes', { after: String(start), first, kinds }, `nodes { ${fields} }`);
      const listed = new Set(changes.map(({ recordId }) => recordId));
      // A record that was restored and deleted again is listed with its latest deletion.
      const isGone = ({ cursor, action, record, recordId }: Data) =>
        action === 'DELETED' && !record && Number(cursor) <= end && !listed.has(recordId) && listed.add(recordId);
      changes.push(...(await read(part)).changes.nodes.toReversed().filter(isGone));
    }
    // An allocation is called by its asset: no other link is read.
    const assets = changes.flatMap(({ fields }) => fields.filter(({ field }: Data) => field === 'assetId'));
    const names = await readNames('Allocation', [{ fields: assets }]);
    yield { changes, part, names, next: start > horizon && String(start) };
  },
  draw({ kind }, { changes, names, next }, page) {
    const list = kind ? words(kindOf(kind).list) : 'records';
    if (!changes) return { title: `Deleted ${list}` };
    const none = notice(`No ${list} were deleted lately`, nothing);
    const restore = page.mayWrite(kind) && { restore: 'code' };
    const heads = { name: 'name', kind: 'more', deleted: 'date', ...restore };
    const rows = changes.map((change: Data) => rowOf(change, names, page).slice(0, Object.keys(heads).length));
    const ids = changes.map(({ cursor }: Data) => cursor);
    const table = rows.length > 0 ? tableOf(`Deleted ${list}`, heads, rows, ids) : none;
    const earlier = html`<p><a class="button" href=${addressOf({ kind, view: 'deleted', after: next })}>Earlier deletions</a></p>`;
    return { title: `Deleted ${list}`, content: html`${table} ${next ? earlier : nothing}` };
  },
};
