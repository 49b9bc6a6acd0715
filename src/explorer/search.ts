/** The search over all kinds: the best matches of each, and the way to all of them. */
import { html, nothing } from 'lit-html';
import { addressOf, type View } from './address.ts';
import { columns, kindNames, kindOf, title, words } from './kinds.ts';
import { allQuery, bestQueries, compareNames, rankMatches, rankOf } from './matches.ts';
import { rowsOf } from './queries.ts';
import { type Data, read, type Viewer } from './service.ts';
import { notice, recordTable } from './values.ts';

const shownMatches = 5;

export function searchEverywhere({ kind, search }: View) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const sent = String(new FormData(event.target as HTMLFormElement).get('everywhere')).trim();
    if (sent) location.assign(addressOf({ search: sent }));
  };
  return html`<form role="search" aria-label="All records" @submit=${submit}>
    <input type="search" name="everywhere" aria-label="Search all records" placeholder="Search all records  ( / )"
      .value=${kind ? '' : (search ?? '')}>
  </form>`;
}

/** The slash key leads to the search, except while somebody types. */
export function focusSearch(event: KeyboardEvent): void {
  const isTyping = (event.target as HTMLElement).matches('input:not([type=checkbox]), textarea, select');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  document.querySelector<HTMLInputElement>('[name=everywhere]')?.select();
}

/** As many columns as fit into any window. */
const shownFields = (kind: string): readonly string[] => (columns[kind] ?? []).slice(0, 5);

const sent = (kind: string, search: string) =>
  [kind, search, shownMatches + 1, rowsOf(kind, shownFields(kind))] as const;
const bestOf = (search: string) => kindNames.flatMap((kind) => bestQueries(...sent(kind, search)));
const allOf = (search: string) => kindNames.map((kind) => allQuery(...sent(kind, search)));

/** Kinds with an exact match come first. */
function sectionsOf(data: Data, search: string): readonly Data[] {
  const rank = ({ matches }: Data) => Math.min(...matches.map((match: Data) => rankOf(match, search)));
  const sections = kindNames.map((kind) => {
    const parts = ['Exact', 'Beginning', ''].map((part) => data[`${kindOf(kind).list}${part}`]?.nodes ?? []);
    return { kind, matches: rankMatches(parts.flat().sort(compareNames), search) };
  });
  return sections.filter(({ matches }) => matches.length > 0).sort((a, b) => rank(a) - rank(b));
}

export const searchResults: Viewer = {
  queries: ({ search = '' }) => [...bestOf(search), ...allOf(search)],
  async *read({ search = '' }) {
    const best = await read(...bestOf(search));
    yield { sections: sectionsOf(best, search) };
    const all = await Promise.all(allOf(search).map((query) => read(query)));
    yield { sections: sectionsOf(Object.assign(best, ...all), search), isWhole: true };
  },
  title: ({ search = '' }) => `Matches of “${search}”`,
  draw({ search }, { sections, isWhole }) {
    const section = ({ kind, matches }: Data) => {
      const { list } = kindOf(kind);
      const shown = matches.slice(0, shownMatches);
      const all = html`<p><a href=${addressOf({ kind, search })}>All ${words(list)} that match</a></p>`;
      return html`<section>
        <h2>${title(list)}</h2>
        ${recordTable(kind, shown, title(list), { fields: shownFields(kind) })}
        ${matches.length > shownMatches ? all : nothing}
      </section>`;
    };
    if (sections.length > 0) return sections.map(section);
    if (!isWhole) return html`<p role="status">Searching…</p>`;
    return notice('Nothing matches', html`<a class="button" href="explore">Overview</a>`);
  },
};
