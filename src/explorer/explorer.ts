/** The explorer: shows the view of the address, and again when records change. */
import { html, nothing, render } from 'lit-html';
import { keyed } from 'lit-html/directives/keyed.js';
import { addressOf, type View, viewerOf, viewOf } from './address.ts';
import { forgetSaid } from './edit.ts';
import { capitalized, kindNames, otherViews, title, words } from './kinds.ts';
import { locations } from './locations.ts';
import { overview } from './overview.ts';
import { together } from './queries.ts';
import { record } from './record.ts';
import { type Data, follow, read, type Viewer } from './service.ts';
import { nameOf, table } from './table.ts';
import { tree } from './tree.ts';

const main = document.querySelector('main') as HTMLElement;
const hasGraphiql = document.body.dataset.graphiql === 'on';
const viewers: Record<ReturnType<typeof viewerOf>, Viewer> = { overview, table, record, map: locations, tree };

interface Shown {
  readonly view: View;
  /** What has been read for it so far. */
  readonly data: Data;
  readonly problem?: string;
}

let shown: Shown | undefined;

/** Numbers the views: what is read for an earlier one is not shown. */
let current = 0;

let mayWrite = false;

/** The view that is read now, or was last. */
let reading = Promise.resolve();
let refreshing: Promise<void> | undefined;

function show(onDrawn = () => {}): Promise<void> {
  main.ariaBusy = 'true';
  forgetSaid();
  reading = load(true, onDrawn);
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

/** Reads the view of the address, and draws what comes. */
async function load(isAnother: boolean, onDrawn = () => {}): Promise<void> {
  current += 1;
  const own = current;
  const view = viewOf(location.search);
  let data = isAnother ? {} : shown?.data;
  const put = (next: Shown) => {
    shown = next;
    draw();
    main.ariaBusy = null;
    onDrawn();
  };
  try {
    for await (const part of partsOf(view)) {
      if (own !== current) return;
      data = { ...data, ...part };
      put({ view, data });
    }
    if (!isAnother || isStarted) sayLive();
  } catch (error) {
    if (own !== current) return;
    const { message } = error as Error;
    // What is on the screen, and typed there, stays: it is only out of date.
    if (isAnother) put({ view, data: data ?? {}, problem: message });
    else sayLive(message);
  }
}

async function* partsOf(view: View): AsyncGenerator<Data> {
  const viewer = viewers[viewerOf(view)];
  if (viewer.read) yield* viewer.read(view);
  else for (const query of viewer.queries(view)) yield await read(query);
}

function draw(): void {
  if (!shown) return;
  const { view, data, problem } = shown;
  const { kind, id } = view;
  const viewer = viewers[viewerOf(view)];
  const isRecord = viewer === record;
  const [found] = Object.values(data);
  const isRead = Object.keys(data).length > 0;
  const name = isRecord ? nameOf(found ?? { id }) : kind === undefined ? 'Overview' : title(kind);
  document.title = `${name} – Yardgraph`;
  const content = html`
    ${tabs(view)}
    ${isRecord ? html`<p class="kind">${capitalized(words(kind ?? ''))}</p>` : nothing}
    <h1>${name}</h1>
    ${isRecord ? nothing : otherView(view)}
    ${viewer === table && mayWrite ? importOf(view) : nothing}
    ${isRead || viewer === table ? viewer.draw(view, data, { mayWrite, redraw: draw, refresh }) : nothing}
    ${problem === undefined ? nothing : html`<p role="alert">${problem}</p>`}
    ${source(together(viewer.queries(view)))}`;
  render(content, main);
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
  draw();
}

function importOf({ kind = '' }: View) {
  const choose = () => {
    const input = Object.assign(document.createElement('input'), { type: 'file', multiple: true });
    input.addEventListener('change', () => void importFiles(kind, input.files ?? []));
    input.click();
  };
  const close = () => {
    dropped = undefined;
    draw();
  };
  const own = dropped?.kind === kind ? dropped : undefined;
  return html`
    <button type="button" @click=${choose}>Import…</button>
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
  event.intercept({
    handler: () => (isBack ? show() : new Promise((resolve) => void show(resolve).then(resolve))),
  });
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

document.addEventListener('busy', (event) => {
  const { detail: seconds } = event as CustomEvent<number | null>;
  sayLive(seconds === null ? undefined : `the service is busy: asked again in ${seconds} s`);
});

/** False until it is known whose key is used, or whether there is one. */
let isStarted = false;

async function start(): Promise<void> {
  const { viewer } = await read('{ viewer { workspace { id } user { id } mayWrite } }');
  mayWrite = viewer.mayWrite;
  const who = document.getElementById('viewer') as HTMLElement;
  who.textContent = [viewer.workspace.id, viewer.user?.id].filter(Boolean).join(' · ');
  draw();
}

/** Another key may be of another user, of another workspace, or read only. */
document.getElementById('key-dialog')?.addEventListener('close', ({ target }) => {
  const { returnValue } = target as HTMLDialogElement;
  if (isStarted && ['use', 'forget'].includes(returnValue)) location.reload();
});

await show();
await follow({
  async begin() {
    await start();
    isStarted = true;
  },
  onConnected(isNow) {
    isConnected = isNow;
    // What has changed before is no event of this connection.
    if (isNow) onChange();
    sayLive();
  },
  onChange,
  onError({ message }) {
    if (!isStarted) sayLive(message);
    isStarted = true;
  },
});
