/** The explorer: shows the view of the address, and again when records change. */
import { html, nothing, render } from 'lit-html';
import { keyed } from 'lit-html/directives/keyed.js';
import { addressOf, type View, viewOf } from './address.ts';
import { editable, forgetSaid } from './edit.ts';
import { capitalized, kindNames, otherViews, title } from './kinds.ts';
import { locations, readPlaces } from './locations.ts';
import { overview } from './overview.ts';
import { countQuery, mapQuery, overviewQueries, pageQuery, recordQuery, together, treeQuery } from './queries.ts';
import { record, withNames } from './record.ts';
import { type Data, follow, read, retried } from './service.ts';
import { filterForm, isTable, nameOf, table } from './table.ts';
import { tree } from './tree.ts';

const main = document.querySelector('main') as HTMLElement;
const hasGraphiql = document.body.dataset.graphiql === 'on';

/** The first is enough to draw a view, and what the others read is added as it comes. */
function queriesOf(view: View): string[] {
  if (view.view === 'map') return [mapQuery()];
  if (view.view === 'tree') return [treeQuery(view)];
  if (isTable(view)) return [pageQuery(view), countQuery(view)];
  return view.kind === undefined ? overviewQueries() : [recordQuery(view)];
}

async function readFirst({ view, kind, id }: View, query: string): Promise<Data> {
  if (view === 'map') return readPlaces();
  const data = await read(query);
  const [[name, found]] = Object.entries(data) as [[string, Data]];
  return kind !== undefined && id !== undefined ? { [name]: await withNames(kind, found) } : data;
}

/** Numbers the views: what is read for an earlier one is not shown. */
let current = 0;

/** What has been read for it. */
let shown: Data = {};

let mayWrite = false;
let redraw = () => {};
const page = { redraw: () => redraw(), refresh };

/** The view that is read now, or was last. */
let reading = Promise.resolve();
let refreshing: Promise<void> | undefined;

function show(top?: number): Promise<void> {
  reading = load(true, top);
  return reading;
}

/** Reads the view once more: after what is read now, or both would never be shown while others write. */
function refresh(): Promise<void> {
  refreshing ??= afterReading().then(() => {
    refreshing = undefined;
    reading = load(false);
    return reading;
  });
  return refreshing;
}

async function afterReading(): Promise<void> {
  const seen = reading;
  await seen;
  if (seen !== reading) await afterReading();
}

/** `top` is how far a view that is shown again was scrolled. */
async function load(isAnother: boolean, top?: number): Promise<void> {
  current += 1;
  const own = current;
  const view = viewOf(location.search);
  const queries = queriesOf(view);
  const [first = '', ...others] = queries;
  if (isAnother) {
    main.setAttribute('aria-busy', 'true');
    forgetSaid();
    shown = {};
  }
  const add = (data: Data) => {
    if (own !== current) return false;
    shown = { ...shown, ...data };
    draw(view, shown, together(queries));
    if (top) scrollTo(0, top);
    return true;
  };
  try {
    if (!add(await readFirst(view, first))) return;
    if (!isAnother) sayLive();
    // At once: what somebody has begun to type by the time that the number of records is there keeps the focus.
    else if (!(document.activeElement instanceof HTMLInputElement)) main.focus({ preventScroll: true });
    main.removeAttribute('aria-busy');
    for (const query of others) if (!add(await read(query))) return;
  } catch (error) {
    if (own !== current) return;
    const { message } = error as Error;
    // Otherwise what is on the screen, and typed there, stays: it is only out of date.
    if (!isAnother) return sayLive(message);
    redraw = () => {};
    const tools = isTable(view) ? filterForm(view, go) : nothing;
    render(html`${tabs(view)}${tools}<p role="alert">${message}</p>`, main);
    main.removeAttribute('aria-busy');
  }
}

function draw(view: View, data: Data, query: string): void {
  redraw = () => draw(view, data, query);
  const [first] = Object.values(data);
  const { kind = '', view: other } = view;
  const name =
    isTable(view) || other ? title(kind) : view.kind === undefined ? 'Overview' : nameOf(first ?? { id: view.id });
  const canEdit = mayWrite && kind === 'WorkOrder';
  document.title = `${name} – Yardgraph`;
  const content = other
    ? html`<h1>${name}</h1>${otherView(view)}${other === 'map' ? locations(data) : tree(view, first, change)}`
    : isTable(view)
      ? html`<h1>${name}</h1>${otherView(view)}${importOf(view)}${table(view, first, data.count?.totalCount, go)}`
      : view.kind === undefined
        ? overview(data)
        : record(view, first, canEdit ? (found, shown) => editable(found, shown, page) : undefined);
  render(html`${tabs(view)}${content}${source(query)}`, main);
}

const tabs = ({ kind }: View) => html`
  <nav class="tabs" aria-label="Records">
    <a href=${addressOf({})} aria-current=${kind === undefined ? 'page' : nothing}>Overview</a>
    ${kindNames.map(
      (name) =>
        html`<a href=${addressOf({ kind: name })} aria-current=${kind === name ? 'page' : nothing}>${title(name)}</a>`,
    )}
  </nav>`;

/** Leads from a table to the map or the tree, and back. */
function otherView({ kind = '', view }: View) {
  const other = view === undefined ? otherViews[kind] : 'table';
  const href = addressOf({ kind, view: view === undefined ? other : undefined });
  return other === undefined ? nothing : html`<a href=${href}>${capitalized(other)}</a>`;
}

/** Files to import into the table of this kind. */
let dropped: { readonly kind: string; readonly files: readonly File[] } | undefined;

async function importFiles(kind: string, list: Iterable<File>): Promise<void> {
  // The list is empty once the event is over.
  const files = [...list];
  await import('./import.js');
  dropped = { kind, files };
  redraw();
}

function importOf({ kind }: View & { readonly kind: string }) {
  if (!mayWrite) return nothing;
  const choose = () => {
    const input = Object.assign(document.createElement('input'), { type: 'file', multiple: true });
    input.addEventListener('change', () => void importFiles(kind, input.files ?? []));
    input.click();
  };
  const close = () => {
    dropped = undefined;
    redraw();
  };
  const own = dropped?.kind === kind ? dropped : undefined;
  return html`
    <button type="button" @click=${choose}>Import…</button>
    ${own ? keyed(own, html`<file-import .kind=${kind} .files=${own.files} .close=${close}></file-import>`) : nothing}`;
}

for (const type of ['dragover', 'drop'] as const) {
  document.addEventListener(type, (event) => {
    const view = viewOf(location.search);
    if (!mayWrite || !isTable(view) || !event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    if (type === 'drop') void importFiles(view.kind, event.dataTransfer.files);
  });
}

/** Everything shown comes from a query that anybody can send. */
const source = (query: string) => html`
  <details class="query">
    <summary>Query</summary>
    <pre tabindex="0">${query}</pre>
    <button type="button" @click=${() => void navigator.clipboard.writeText(query)}>Copy query</button>
    ${hasGraphiql ? html`<a href=${`graphql?${new URLSearchParams({ query })}`}>Open in GraphiQL</a>` : nothing}
  </details>`;

/** Keeps with the address that is left how far it was scrolled, for the way back. */
function visit(address: string): void {
  history.replaceState({ top: scrollY }, '');
  history.pushState(null, '', address);
  void show();
}

const go = (view: View): void => visit(addressOf(view));

/** What is opened and closed within a view is in its address, and no step of its own. */
function change(view: View): void {
  history.replaceState(null, '', addressOf(view));
  void refresh();
}

addEventListener('popstate', ({ state }) => void show(state?.top));

/** Views are shown without loading the page anew. */
document.addEventListener('click', (event) => {
  const link = (event.target as Element).closest?.('a');
  const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0;
  if (!link || !isPlain || link.pathname !== location.pathname) return;
  event.preventDefault();
  visit(link.href);
  scrollTo(0, 0);
});

/** Milliseconds for which changes are collected before the view is read again. */
const pause = 500;
let waiting: ReturnType<typeof setTimeout> | undefined;

function onChange(): void {
  if (waiting) return;
  waiting = setTimeout(() => {
    waiting = undefined;
    void refresh();
  }, pause);
}

const live = document.getElementById('live') as HTMLElement;
let isConnected = false;

function sayLive(problem = isConnected ? '' : 'not connected: what is shown may be out of date'): void {
  live.textContent = problem || 'live';
  live.classList.toggle('off', problem !== '');
}

/** False until it is known whose key is used, or whether there is one. */
let isStarted = false;

async function start(): Promise<void> {
  const { viewer } = await read('{ viewer { workspace { id } user { id } mayWrite } }');
  mayWrite = viewer.mayWrite;
  const who = document.getElementById('viewer') as HTMLElement;
  who.textContent = [viewer.workspace.id, viewer.user?.id].filter(Boolean).join(' · ');
  redraw();
}

/** Another key may be of another user, of another workspace, or read only. */
document.getElementById('key-dialog')?.addEventListener('close', ({ target }) => {
  const { returnValue } = target as HTMLDialogElement;
  if (isStarted && ['use', 'forget'].includes(returnValue)) location.reload();
});

await show();
await retried(start, ({ message }) => {
  isStarted = true;
  sayLive(message);
});
isStarted = true;
await follow(onChange, (isNow) => {
  isConnected = isNow;
  // What has changed before is no event of this connection.
  if (isNow) onChange();
  sayLive();
});
