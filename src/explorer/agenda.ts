/** The work orders to look at now, in groups that lead to their tables. */
import { html, nothing } from 'lit-html';
import { addressOf, filterOf, type View } from './address.ts';
import { nameOf } from './kinds.ts';
import { ascending, atMost, groupsQuery, query, selectionOf, whereOf } from './queries.ts';
import type { Data } from './service.ts';
import { cell, link, notice, time } from './values.ts';

/** Groups of unfinished work orders by the conditions of their tables, in the order of a time. */
const groups: readonly (readonly [title: string, time: string, ...conditions: string[]])[] = [
  ['Overdue', 'endDate', 'endDate.lt:today'],
  ['Due today', 'endDate', 'endDate.eq:today'],
  ['Starts today', 'startDate', 'startDate.eq:today', 'endDate.ne:today'],
  ['Next seven days', 'startDate', 'startDate.gt:today', 'startDate.lte:today+7'],
  // Counting all that have ever started would take a second per 100,000.
  ['Without an end', 'startDate', 'startDate.gte:today-90', 'startDate.lt:today', 'endDate.isNull:true'],
  ['Without a location', 'startDate', 'startDate.gte:today', 'locationId.isNull:true'],
  ['Without a start', 'endDate', 'startDate.isNull:true'],
];

const fields = ['id', 'name', 'reference', 'asset', 'location', 'status', 'startDate', 'endDate'];

/** Names of the statuses of finished work. People can choose others. */
const finishedNames =
  /(?<!\p{L})(completed?|cancell?ed|closed|done|finished|delivered|returned|rejected|archived|erledigt|fertig|beendet|abgeschlossen|geschlossen|storniert|abgesagt|terminée?|annulée?|voltooid|afgerond|geannuleerd)(?!\p{L})/iu;

export const statusesQuery = `statuses: ${groupsQuery('WorkOrder', 'status', 50)}`;

const statusesOf = ({ statuses }: Data): readonly Data[] =>
  statuses.groups.map(({ statusId: id, status }: Data) => status ?? { id });

/** The IDs of the finished statuses: those of the address, or by their names. */
function finishedOf({ finished }: View, data: Data): readonly string[] {
  const named = () => statusesOf(data).filter((status) => finishedNames.test(nameOf(status)));
  return finished?.split(',') ?? named().map(({ id }) => id);
}

function viewsOf(view: View, data: Data): readonly View[] {
  const kind = 'WorkOrder';
  const unfinished = finishedOf(view, data).map((value) => ({ field: 'statusId', operator: 'ne', value }));
  return groups.map(([, sort, ...conditions]) => {
    const filters = conditions.flatMap((text) => filterOf(kind, text) ?? []);
    return { kind, filters: [...filters, ...unfinished], sort, columns: `asset,status,location,${sort}` };
  });
}

export function agendaQuery(view: View, data: Data): string {
  const selection = `totalCount nodes { ${selectionOf('WorkOrder', fields)} }`;
  const queries = viewsOf(view, data).map((group, index) => {
    const orderBy = [{ [group.sort ?? '']: ascending }];
    return `group${index}: ${query('workOrders', { first: atMost(5), where: whereOf(group), orderBy }, selection)}`;
  });
  return queries.join('\n  ');
}

export const overdueCount = ({ group0 }: Data): number => group0?.totalCount ?? 0;

function groupOf([title, field]: (typeof groups)[number], address: string, { totalCount, nodes }: Data) {
  const row = (order: Data) => html`<tr>
    <th scope="row">${link('WorkOrder', order)}</th>
    <td class="more">${order.asset && link('Asset', order.asset, order.asset.uid ?? nameOf(order.asset))}</td>
    <td class="more">${cell('WorkOrder', 'location', order)}</td>
    <td>${cell('WorkOrder', 'status', order)}</td>
    <td>${order[field] && time(order[field], !title.endsWith('today'))}</td>
  </tr>`;
  return html`<tbody>
    <tr>
      <th scope="rowgroup"><h2 class=${title === 'Overdue' ? 'error' : nothing}>${title}
        <small>${totalCount.toLocaleString()}</small></h2></th>
      <td class="more"></td><td class="more"></td><td></td>
      <td><a class="link" href=${address} aria-label=${`Show all: ${title}`}>Show all</a></td>
    </tr>
    ${nodes.map(row)}
  </tbody>`;
}

/** Links that make a status a finished one, or an unfinished one. */
function finishedChoice(view: View, data: Data) {
  const finished = finishedOf(view, data);
  const isFinished = ({ id }: Data) => finished.includes(id);
  const names = statusesOf(data).filter(isFinished).map(nameOf);
  const choice = (status: Data) => {
    const others = finished.filter((id) => id !== status.id && id !== 'none');
    const changed = isFinished(status) ? others : [...others, status.id];
    return html`<a class="button" aria-current=${isFinished(status) ? 'true' : nothing}
      href=${addressOf({ ...view, finished: changed.join(',') || 'none' })}>${nameOf(status)}</a>`;
  };
  return html`<details>
    <summary class="quiet">Finished work orders are not listed: ${names.join(', ') || 'no status is a finished one'}</summary>
    <div class="row">Statuses of finished work orders: ${statusesOf(data).map(choice)}</div>
  </details>`;
}

export function agenda(view: View, data: Data) {
  // Not read yet.
  if (!data.group0) return nothing;
  const views = viewsOf(view, data);
  const filled = groups.flatMap((group, index) => {
    const found: Data = data[`group${index}`];
    return found.totalCount > 0 ? [groupOf(group, addressOf(views[index] ?? {}), found)] : [];
  });
  if (filled.length === 0)
    return notice('Nothing is overdue, and nothing is planned for the next seven days', nothing, 'card empty pad');
  const columns = { Asset: 'code more', Location: 'more', Status: 'status', When: 'date' };
  const heads = Object.entries(columns).map(([name, classes]) => html`<th scope="col" class=${classes}>${name}</th>`);
  return html`<div class="card scroll" tabindex="0" role="region" aria-label="Work orders to look at now">
    <table class="groups">
      <thead><tr><th scope="col">Work order</th>${heads}</tr></thead>
      ${filled}
    </table>
  </div>
  ${finishedChoice(view, data)}`;
}
