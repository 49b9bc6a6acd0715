/** The search over all kinds: the best matches of each, and the way to all of them. */
import { html, nothing, render } from 'lit-html';
import { keyed } from 'lit-html/directives/keyed.js';
import { addressOf, type View, viewOf } from './address.ts';
import { columns, kindNames, kindOf, numberedName, title, words } from './kinds.ts';
import { allQuery, bestQueries, rankMatches, rankOf } from './matches.ts';
import { rowsOf } from './queries.ts';
import { type Data, read, type Viewer, wait } from './service.ts';
import { nonEmptyFields, notice, recordTable, time, toOverview, until } from './values.ts';
import { compareTurns } from './work.ts';

const shownMatches = 5;

/** For each kind, below the field. */
const maxSuggested = 3;

/** Searches `all records`, or those of a table. */
export function searchForm(records: string, addressOf: (search: string) => string, search = '', hint = '') {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    location.assign(addressOf(String(new FormData(event.target as HTMLFormElement).get('search')).trim()));
  };
  return html`<form role="search" aria-label=${title(records)} @submit=${submit}>
    <input type="search" name="search" size="22" aria-label=${`Search ${records}`} .value=${search}
      placeholder=${`Search ${records}${hint}`} title="Finds records with all words. erp:4711 is the ID 4711 of the system erp.">
  </form>`;
}

/** Empty again on another page. The best matches of the text so far are below it. */
export function searchEverywhere({ kind, search }: View) {
  const hint = matchMedia('(hover: hover)').matches ? '  ( / )' : '';
  const form = searchForm('all records', (search) => addressOf({ search }), kind ? '' : search, hint);
  const leave = ({ currentTarget: { lastElementChild: list }, relatedTarget: next }: Data) =>
    next && !list.parentNode.contains(next) && list.hidePopover();
  const best = html`<nav class="options floats" popover aria-label="Best matches"></nav>`;
  // No suggestion opens above the results.
  const submit = ({ target }: Event) => (target as HTMLFormElement).querySelector('input')?.blur();
  return keyed(location.search, html`<div @input=${suggest} @focusout=${leave} @submit=${submit}>${form}${best}</div>`);
}

/** The last text wins. Where no match is exact, and few begin with it, all matches follow: they take longer. */
async function suggest({ target: input, currentTarget: { lastElementChild: list } }: Data): Promise<void> {
  const [search, address] = [input.value.trim(), location.search];
  const isLast = () => input.matches(':focus') && input.value.trim() === search && address === location.search;
  // Nobody opens a match of the text before. The list itself would let clicks through.
  list.firstElementChild?.toggleAttribute('inert', true);
  await wait(150);
  if (!isLast()) return;
  if (search.length < 2) return list.hidePopover();
  const [best = '', ...others] = searchResults.queries({ search }, {});
  let found: Data | undefined = await read(best).catch(() => undefined);
  if (!isLast()) return;
  if (!found) return list.hidePopover();
  drawMatches(input, list, search, found);
  const matches = sectionsOf(found, search).flatMap(({ matches }) => matches.slice(0, maxSuggested));
  if (matches.length >= shownMatches || matches.some((match) => rankOf(match, search) === 0)) return;
  for (const query of others) {
    found = { ...found, ...(await read(query).catch(() => ({}))) };
    if (!isLast()) return;
  }
  drawMatches(input, list, search, found);
}

function drawMatches(input: HTMLInputElement, list: HTMLElement, search: string, found: Data): void {
  const line = (kind: string) => (match: Data) =>
    html`<a class="row pad" href=${addressOf({ kind, id: match.id })}>${numberedName(match)}
      <small>${title(kind)} ${match.startDate && time(match.startDate)} ${until(match)}</small></a>`;
  const lines = sectionsOf(found, search).map(({ kind, matches }) => matches.slice(0, maxSuggested).map(line(kind)));
  render(
    html`<div>${lines}<a class="row pad" href=${addressOf({ search })}>All matches of “${search}”</a></div>`,
    list,
  );
  list.firstElementChild?.removeAttribute('inert');
  list.togglePopover({ force: true, source: input });
}

/** The slash key leads to the search, except while somebody types. Down leads from a search to its first match. */
export function moveToSearch(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey } = event;
  const from = event.target as HTMLElement;
  const isTyping = from.matches('input:not([type=checkbox]), textarea, select');
  const isAbove = from.matches('body, main, [type=search]');
  const isOfTable = from.matches('main [type=search]') || viewOf(location.search).search;
  const matches = ['#everywhere :popover-open a', ...(isOfTable ? ['main tbody a'] : [])].join();
  const place = key === '/' && !isTyping ? '#everywhere input' : key === 'ArrowDown' && isAbove ? matches : 'none';
  const next = document.querySelector<HTMLInputElement>(place);
  if (!next || ctrlKey || metaKey) return;
  event.preventDefault();
  next.focus();
  next.select?.();
}

/** As many columns as fit into any window. */
const shownFields = (kind: string): readonly string[] => (columns[kind] ?? []).slice(0, 7);

/** Kinds with an exact match come first. */
function sectionsOf(data: Data, search: string): readonly { kind: string; matches: readonly Data[] }[] {
  const sections = kindNames.map((kind) => {
    const parts = ['Exact', 'Beginning', ''].flatMap((part) => data[`${kindOf(kind).list}${part}`]?.nodes ?? []);
    const compare = kindOf(kind).order.includes('startDate') ? compareTurns : undefined;
    return { kind, matches: rankMatches(parts, search, compare) };
  });
  const rank = ({ matches }: Data) => Math.min(...matches.map((match: Data) => rankOf(match, search)));
  return sections.filter(({ matches }) => matches.length > 0).sort((a, b) => rank(a) - rank(b));
}

export const searchResults: Viewer = {
  queries({ search = '' }) {
    const sent = (kind: string) => [kind, search, shownMatches + 1, rowsOf(kind, shownFields(kind))] as const;
    const best = kindNames.flatMap((kind) => bestQueries(...sent(kind)));
    return [best.join('\n  '), ...kindNames.map((kind) => allQuery(...sent(kind)))];
  },
  draw({ search = '' }, data) {
    const sections = sectionsOf(data, search).map(({ kind, matches }) => {
      const [{ list }, shown] = [kindOf(kind), matches.slice(0, shownMatches)];
      const all = html`<p class="pad"><a href=${addressOf({ kind, search })}>All ${words(list)} that match</a></p>`;
      return html`<section>
        <h2>${title(list)}</h2>
        ${recordTable(kind, shown, title(list), { fields: nonEmptyFields(shownFields(kind), shown) })}
        ${matches.length > shownMatches ? all : nothing}
      </section>`;
    });
    const isWhole = kindNames.every((kind) => kindOf(kind).list in data);
    const searching = data.problem ? nothing : html`<p role="status">Searching…</p>`;
    const none = isWhole ? notice('Nothing matches', toOverview) : searching;
    return { title: `Matches of “${search}”`, content: sections.length > 0 ? sections : none };
  },
};
