/** The latest deletions, of a kind or of all: each leads to the page of the deleted record, which can restore it. */
import { html, nothing } from 'lit-html';
import { constantCase } from '../model/labels.ts';
import { addressOf } from './address.ts';
import { kindNames, kindOf, nameOf, title, words } from './kinds.ts';
import { atMost, query } from './queries.ts';
import { deletedName, readNames } from './record.ts';
import { type Data, read, type Viewer } from './service.ts';
import { link, notice, phoneLine, tableOf, time } from './values.ts';

const fields = 'cursor action kind recordId at user { id name } record { id } fields { field before after }';

function rowOf(change: Data, names: Data): readonly unknown[] {
  const kind = kindNames.find((name) => constantCase(name) === change.kind) ?? 'Label';
  const name = html`${link(kind, { id: change.recordId, name: deletedName(change, names) })} ${phoneLine({ name: title(kind) })}`;
  return [name, title(kind), time(change.at), change.user && nameOf(change.user)];
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
  draw({ kind }, { changes, names, next }) {
    const list = kind ? words(kindOf(kind).list) : 'records';
    const heads = { name: 'name', kind: 'more', deleted: 'date', by: '' };
    const row = (change: Data) => rowOf(change, names);
    const table = () => tableOf(`Deleted ${list}`, heads, changes.map(row));
    const earlier = html`<p><a class="button" href=${addressOf({ kind, view: 'deleted', after: next })}>Earlier deletions</a></p>`;
    const none = notice(`No ${list} were deleted lately`, nothing);
    return {
      title: `Deleted ${list}`,
      content: changes && html`${changes.length > 0 ? table() : none} ${next ? earlier : nothing}`,
    };
  },
};
