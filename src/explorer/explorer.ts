/** The explorer: shows the view of the address, and again when records change. */
import { html, nothing, render } from 'lit-html';
import { keyed } from 'lit-html/directives/keyed.js';
import { addressOf, type View, viewerOf, viewOf } from './address.ts';
import { nameOf } from './cells.ts';
import { capitalized, kindNames, kindOf, otherViews, title } from './kinds.ts';
import { locations } from './locations.ts';
import { overview } from './overview.ts';
import { documentOf } from './queries.ts';
import { record } from './record.ts';
import { type Data, follow, read, type Viewer } from './service.ts';
import { table } from './table.ts';
import { tree } from './tree.ts';

const main = document.querySelector('main') as HTMLElement;
const hasGraphiql = document.body.dataset.graphiql === 'on';
const viewers: Record<ReturnType<typeof viewerOf>, Viewer> = { overview, table, record, map: locations, tree };

/** What is on the screen: what has been read of a view so far, and what is wrong with it. */
let shown:
  | { readonly address: string; readonly view: View; readonly data: Data; readonly problem?: string }
  | undefined;

/** Numbers what is read: what comes for an earlier view is not shown. */
let current = 0;

let mayWrite = false;

/** What is read now, or was last. */
let reading = Promise.resolve();
let refreshing: Promise<void> | undefined;

function show(onDrawn?: () => void): Promise<void> {
  reading = load(onDrawn);
  return reading;
}

/** Reads the view once more: after what is read now, or nothing would ever be shown while others write. */
function refresh(): Promise<void> {
  refreshing ??= reading.then(() => {
    refreshing = undefined;
    return show();
  });
  return refreshing;
}

/** Reads the view of the address, and draws what comes. What is on the screen of the same view, and typed there, stays. */
async function load(onDrawn = () => {}): Promise<void> {
  current += 1;
  const own = current;
  const address = location.search;
  const view = viewOf(address);
  const isSame = shown?.address === address;
  if (!isSame) main.ariaBusy = 'true';
  let data = isSame ? shown?.data : {};
  const put = (next: { readonly data: Data; readonly problem?: string }) => {
    shown = { address, view, ...next };
    draw();
    main.ariaBusy = null;
    onDrawn();
  };
  try {
    for await (const part of partsOf(view)) {
      if (own !== current) return;
      data = { ...data, ...part };
      put({ data });
    }
  } catch (error) {
    if (own === current) put({ data: data ?? {}, problem: (error as Error).message });
  }
}

async function* partsOf(view: View): AsyncGenerator<Data> {
  const viewer = viewers[viewerOf(view)];
  if (viewer.read) yield* viewer.read(view);
  else for (const query of viewer.queries(view)) yield await read(documentOf([query]));
}

function draw(): void {
  if (!shown) return;
  const { view, data, problem } = shown;
  const { kind, id } = view;
  const viewer = viewers[viewerOf(view)];
  const isRead = Object.keys(data).length > 0;
  const name =
    id !== undefined ? nameOf(data[kindOf(kind).one] ?? { id }) : kind ? title(kindOf(kind).list) : 'Overview';
  document.title = `${name} – Yardgraph`;
  const content = html`
    ${tabs(view)}
    ${id === undefined ? nothing : html`<p class="kind">${title(kind ?? '')}</p>`}
    <h1>${name}</h1>
    ${id === undefined ? otherView(view) : nothing}
    ${viewer === table && mayWrite ? importOf(view) : nothing}
    ${isRead || viewer === table ? viewer.draw(view, data, { mayWrite, redraw: draw, refresh }) : nothing}
    ${problem === undefined ? nothing : html`<p role="alert">${problem}</p>`}
    ${source(documentOf(viewer.queries(view)))}`;
  render(content, main);
}

function tabs({ kind }: View) {
  const tab = (of: string | undefined, text: string) =>
    html`<a href=${addressOf({ kind: of })} aria-current=${kind === of ? 'page' : nothing}>${text}</a>`;
  return html`
    <nav class="tabs" aria-label="Records">
      ${tab(undefined, 'Overview')} ${kindNames.map((name) => tab(name, title(kindOf(name).list)))}
    </nav>`;
}

/** Leads from a table to the map or the tree, and back. */
function otherView({ kind = '', view }: View) {
  const other = otherViews[kind];
  if (other === undefined) return nothing;
  const [next, text] = view === undefined ? [other, other] : [undefined, 'table'];
  return html`<a href=${addressOf({ kind, view: next })}>${capitalized(text)}</a>`;
}

/** Files to import into the table of this kind. */
let dropped: { readonly kind: string; readonly files: readonly File[] } | undefined;

async function importFiles(kind: string, list: Iterable<File>): Promise<void> {
  // The list is empty once the event is over.
  const files = [...list];
  await import('./import.js');
  dropped = { kind, files };
  draw();
}

function importOf({ kind = '' }: View) {
  const choose = ({ target }: Event) => void importFiles(kind, (target as HTMLInputElement).files ?? []);
  const close = () => {
    dropped = undefined;
    draw();
  };
  const own = dropped?.kind === kind ? dropped : undefined;
  return html`
    <label class="button">Import…<input class="hidden" type="file" multiple @change=${choose}></label>
    ${own ? keyed(own, html`<file-import .kind=${kind} .files=${own.files} .close=${close}></file-import>`) : nothing}`;
}

for (const type of ['dragover', 'drop'] as const) {
  document.addEventListener(type, (event) => {
    const view = viewOf(location.search);
    if (!mayWrite || viewerOf(view) !== 'table' || !event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    if (type === 'drop') void importFiles(view.kind ?? '', event.dataTransfer.files);
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

/**
 * Links and forms lead to other views without loading the page anew. (Browsers without this interface load it.) What is scrolled and focused
 * is the browser's: on the way back, once everything is drawn that was there. Addresses that are replaced are those of the same view, and
 * a page that is loaded again is loaded.
 */
window.navigation?.addEventListener('navigate', (event) => {
  const { canIntercept, hashChange, navigationType, destination } = event;
  const isBack = navigationType === 'traverse';
  if (!canIntercept || hashChange || !(isBack || navigationType === 'push')) return;
  if (new URL(destination.url).pathname !== location.pathname) return;
  event.intercept({ handler: () => (isBack ? show() : new Promise((resolve) => void show(resolve).then(resolve))) });
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

/** Another key may be of another user, of another workspace, or read only. */
document.getElementById('key-dialog')?.addEventListener('close', ({ target }) => {
  if (['use', 'forget'].includes((target as HTMLDialogElement).returnValue)) location.reload();
});

/** Says whose key is used. */
async function start(): Promise<void> {
  const { viewer } = await read('{ viewer { workspace { id } user { id } mayWrite } }');
  mayWrite = viewer.mayWrite;
  const who = document.getElementById('viewer') as HTMLElement;
  who.textContent = [viewer.workspace.id, viewer.user?.id].filter(Boolean).join(' · ');
  draw();
}

await show();
await follow(start, onChange);
