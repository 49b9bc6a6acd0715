/** The explorer: shows the view of the address, and again when records change. */
import { html, nothing, render } from 'lit-html';
import { addressOf, type View, viewerOf, viewOf } from './address.ts';
import { isUnsaved } from './edit.ts';
import { kindNames, kindOf, nameOf, otherViews, title } from './kinds.ts';
import { locations } from './locations.ts';
import { overview } from './overview.ts';
import { documentOf } from './queries.ts';
import { record } from './record.ts';
import { type Data, follow, read, type Viewer } from './service.ts';
import { table } from './table.ts';
import { tree } from './tree.ts';

const main = document.querySelector('main') as HTMLElement;

const viewers: Record<ReturnType<typeof viewerOf>, Viewer> = { overview, table, record, map: locations, tree };

/** What has been read so far of the view of an address, and what is wrong with it. */
interface Shown {
  readonly address: string;
  readonly view: View;
  readonly data: Data;
  readonly problem?: string;
}

/** What is on the screen, and what is read to be shown next. */
let shown: Shown | undefined;
let next: Shown;

let reading = Promise.resolve();
let refreshing: Promise<void> | undefined;
let mayWrite = false;

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
  const { search: address } = location;
  const isSame = address === shown?.address;
  const own: Shown = { address, view: viewOf(address), data: isSame && shown ? shown.data : {} };
  next = own;
  if (!isSame) main.ariaBusy = 'true';
  const put = (part: Partial<Shown>) => {
    shown = Object.assign(own, part);
    draw();
    main.ariaBusy = null;
    onDrawn();
  };
  try {
    const viewer = viewers[viewerOf(own.view)];
    for await (const part of viewer.read?.(own.view) ?? parts(viewer.queries(own.view))) {
      if (own !== next) return;
      put({ data: { ...own.data, ...part } });
    }
  } catch (error) {
    if (own === next) put({ problem: (error as Error).message });
  }
}

async function* parts(queries: readonly string[]): AsyncGenerator<Data> {
  for (const query of queries) yield await read(query);
}

function draw(): void {
  if (!shown) return;
  const { view, data, problem } = shown;
  const { kind, id } = view;
  const viewer = viewers[viewerOf(view)];
  // Of a table, the filters may be what is refused.
  const isDrawn = Object.keys(data).length > 0 || viewer === table;
  const list = kind ? title(kindOf(kind).list) : 'Overview';
  const name = id === undefined ? list : nameOf(data[kindOf(kind).one] ?? { id });
  document.title = `${name} – Yardgraph`;
  const content = html`
    ${tabs(view)}
    ${id === undefined ? nothing : html`<p class="kind">${title(kind ?? '')}</p>`}
    <h1>${name}</h1>
    ${id === undefined ? viewLinks(view) : nothing}
    ${viewer === table && mayWrite ? html`<button type="button" @click=${() => chooseFiles(kind)}>Import…</button>` : nothing}
    ${isDrawn ? viewer.draw(view, data, { mayWrite, redraw: draw, refresh }) : nothing}
    ${problem ? html`<p role="alert">${problem}</p>` : nothing}
    ${source(documentOf(viewer.queries(view)))}`;
  render(content, main);
}

function tabs({ kind }: View) {
  const tab = (of: string | undefined, text: string) =>
    html`<a href=${addressOf({ kind: of })} aria-current=${kind === of ? 'page' : nothing}>${text}</a>`;
  const kinds = kindNames.map((name) => tab(name, title(kindOf(name).list)));
  return html`<nav class="tabs" aria-label="Records">${tab(undefined, 'Overview')} ${kinds}</nav>`;
}

/** Links to the other views of the kind. */
function viewLinks({ kind = '', view }: View) {
  const views = [undefined, ...(otherViews[kind] ?? [])].filter((name) => name !== view);
  return views.map((name) => html`<a href=${addressOf({ kind, view: name })}>${title(name ?? 'table')}</a> `);
}

async function importFiles(kind: string | undefined, list: Iterable<File>): Promise<void> {
  // The list is empty once the event is over.
  const files = [...list];
  const { openImport } = await import('./import.js');
  openImport(kind ?? '', files);
}

function chooseFiles(kind?: string): void {
  const input = Object.assign(document.createElement('input'), { type: 'file', multiple: true });
  input.onchange = () => void importFiles(kind, input.files ?? []);
  input.click();
}

for (const type of ['dragover', 'drop'] as const) {
  document.addEventListener(type, (event) => {
    const view = viewOf(location.search);
    if (!mayWrite || viewerOf(view) !== 'table' || !event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    if (type === 'drop') void importFiles(view.kind, event.dataTransfer.files);
  });
}

/** Everything shown comes from a query that anybody can send. */
function source(query: string) {
  const graphiql = html`<a href=${`graphql?${new URLSearchParams({ query })}`}>Open in GraphiQL</a>`;
  return html`<details class="query">
    <summary>Query</summary>
    <pre tabindex="0">${query}</pre>
    <button type="button" @click=${() => void navigator.clipboard.writeText(query)}>Copy query</button>
    ${document.body.dataset.graphiql === 'on' ? graphiql : nothing}
  </details>`;
}

/**
 * Links and forms lead to other views without loading the page anew. (Browsers without this interface load it.) What is scrolled and focused
 * is the browser's: on the way back, once everything is drawn that was there; in a tree that is opened, it stays. A page that is loaded again
 * is loaded.
 */
window.navigation?.addEventListener('navigate', (event) => {
  const { canIntercept, hashChange, navigationType, destination } = event;
  const { pathname, search } = new URL(destination.url);
  const isBack = navigationType === 'traverse';
  if (!canIntercept || hashChange || !(isBack || navigationType === 'push') || pathname !== location.pathname) return;
  if (isUnsaved() && !confirm('Leave without saving what you have entered?')) {
    event.preventDefault();
    return;
  }
  const isInTree = [search, location.search].every((address) => viewerOf(viewOf(address)) === 'tree');
  event.intercept({
    ...(isInTree && ({ scroll: 'manual', focusReset: 'manual' } as const)),
    handler: () => (isBack ? show() : new Promise((resolve) => void show(resolve).then(resolve))),
  });
});

window.addEventListener('beforeunload', (event) => {
  if (isUnsaved()) event.preventDefault();
});

/** Another key may be of another user, of another workspace, or read only. */
document.getElementById('key-dialog')?.addEventListener('close', ({ target }) => {
  if (['use', 'forget'].includes((target as HTMLDialogElement).returnValue)) location.reload();
});

async function start(): Promise<void> {
  const { viewer } = await read('viewer { workspace { id } user { id } mayWrite }');
  mayWrite = viewer.mayWrite;
  const who = document.getElementById('viewer') as HTMLElement;
  who.textContent = [viewer.workspace.id, viewer.user?.id].filter(Boolean).join(' · ');
  draw();
}

await show();
await follow(start, refresh);
