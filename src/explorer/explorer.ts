/** The explorer: shows the view of the address, and again when records change. */
import { html, nothing, render } from 'lit-html';
import { addressOf, type View, viewerOf, viewOf } from './address.ts';
import { creation, isUnsaved } from './form.ts';
import { imports } from './imports.ts';
import { kindOf, otherViews, title } from './kinds.ts';
import { LocationMap } from './locations.ts';
import { overview } from './overview.ts';
import { documentOf } from './queries.ts';
import { record } from './record.ts';
import { focusSearch, searchEverywhere, searchResults } from './search.ts';
import { type Data, follow, type Page, read, type Viewer, wait } from './service.ts';
import { countsQuery, sideBar } from './side.ts';
import { importFiles, table } from './table.ts';
import { tree } from './tree.ts';
import { button, copyText, moveInTable, notice } from './values.ts';

const element = (id: string) => document.getElementById(id) as HTMLElement;
const main = element('main');

/** The results of a view's queries so far, and the error that ended them. */
interface Shown {
  readonly address: string;
  readonly view: View;
  readonly data?: Data;
  readonly problem?: string;
}

const missing: Viewer = {
  queries: () => [],
  async *read() {
    yield {};
  },
  title: () => 'There is no such page',
  draw: () => notice('This address leads to no records', html`<a class="button" href="explore">Overview</a>`),
};

/** Others may write all the time, and all records are counted. */
const minCountIntervalMs = 5_000;

class Explorer implements Page {
  mayWrite = false;
  readonly #viewers = {
    overview,
    search: searchResults,
    table,
    record,
    map: new LocationMap(),
    tree,
    new: creation,
    imports,
  };
  #shown: Shown | undefined;
  /** The view that is being read. */
  #next: Shown | undefined;
  #reading = Promise.resolve();
  #refreshing: Promise<void> | undefined;
  #viewer = '';
  #counts: Data = {};
  #isCounting = false;
  #isCountStale = false;

  /** Reads the view of the address, and draws it. */
  show(onDrawn?: () => void): Promise<void> {
    this.#reading = this.#load(onDrawn);
    return this.#reading;
  }

  /** Reads the view again once it has been read: while others write all the time, the first read would never end. */
  refresh = (): Promise<void> => {
    void this.#count();
    this.#refreshing ??= this.#reading.then(() => {
      this.#refreshing = undefined;
      return this.show();
    });
    return this.#refreshing;
  };

  /** Draws each part as soon as it is read. A view that is on the screen stays there, with the input of its forms. */
  async #load(onDrawn = () => {}): Promise<void> {
    const { search: address } = location;
    const isSame = address === this.#shown?.address;
    const own: Shown = { address, view: viewOf(address), ...(isSame && this.#shown && { data: this.#shown.data }) };
    this.#next = own;
    if (!isSame) main.ariaBusy = 'true';
    const put = (part: Partial<Shown>) => {
      this.#shown = Object.assign(own, part);
      this.redraw();
      main.ariaBusy = null;
      onDrawn();
    };
    try {
      const viewer = this.#viewerOf(own.view);
      for await (const part of viewer.read?.(own.view) ?? readParts(viewer, own)) {
        if (own !== this.#next) return;
        put({ data: { ...own.data, ...part } });
      }
    } catch (error) {
      if (own === this.#next) put({ problem: (error as Error).message });
    }
  }

  #viewerOf(view: View): Viewer {
    const isUnknown = view.kind === undefined && new URLSearchParams(location.search).has('kind');
    return isUnknown ? missing : this.#viewers[viewerOf(view)];
  }

  redraw = (): void => {
    if (!this.#shown) return;
    const { view, data, problem } = this.#shown;
    const viewer = this.#viewerOf(view);
    const queries = viewer.queries(view, data ?? {});
    // Without its conditions, the table whose conditions are refused could not be mended.
    const isDrawn = data !== undefined || viewer === table;
    render(searchEverywhere(view), element('everywhere'));
    render(sideBar(view, this.#counts, this.#viewer), element('side'), { renderBefore: element('change-key') });
    render(
      html`${this.#head(viewer, view, data ?? {})} ${problem === undefined ? nothing : this.#failure(problem)}
        ${isDrawn ? viewer.draw(view, data ?? {}, this) : nothing} ${queries.length > 0 ? source(queries) : nothing}`,
      main,
    );
  };

  #head(viewer: Viewer, view: View, data: Data) {
    const { kind, id } = view;
    const name = viewer.title?.(view, data) ?? (kind ? title(kindOf(kind).list) : 'Overview');
    document.title = `${name} – Yardgraph`;
    return html`<header class="head row">
      <div>${viewer.crumb?.(view, data)}<h1>${name}</h1> <small role="status">${viewer.note?.(view, data)}</small></div>
      ${id === undefined ? viewLinks(view) : nothing} <div class="row">${viewer.actions?.(view, data, this)}</div>
    </header>`;
  }

  #failure(problem: string) {
    const retry = button('Try again', () => void this.show());
    return html`<div class="notice card pad row" role="alert">
      <span><b class="error">This page could not be read.</b> ${problem}</span> <span class="end">${retry}</span>
    </div>`;
  }

  async #count(): Promise<void> {
    this.#isCountStale = true;
    if (this.#isCounting) return;
    this.#isCounting = true;
    while (this.#isCountStale) {
      this.#isCountStale = false;
      // The feed of changes reports a service that is away.
      this.#counts = await read(countsQuery).catch(() => this.#counts);
      this.redraw();
      await wait(minCountIntervalMs);
    }
    this.#isCounting = false;
  }

  async identify(): Promise<void> {
    const { viewer } = await read('viewer { workspace { id } user { id } mayWrite }');
    this.mayWrite = viewer.mayWrite;
    const rights = viewer.mayWrite ? '' : 'read only';
    this.#viewer = [viewer.workspace.id, viewer.user?.id, rights].filter(Boolean).join(' · ');
    void this.#count();
    this.redraw();
  }
}

async function* readParts(viewer: Viewer, shown: Shown): AsyncGenerator<Data> {
  const queries = () => viewer.queries(shown.view, shown.data ?? {});
  for (let at = 0; at < queries().length; at += 1) yield await read(queries()[at] ?? '');
}

/** Links to the table, the map and the tree of the kind. */
function viewLinks({ kind = '', view }: View) {
  const others = view === 'new' ? [] : (otherViews[kind] ?? []);
  const names = others.length > 0 ? [undefined, ...others] : [];
  const current = (name?: string) => (name === view ? 'page' : nothing);
  return html`<span class="row">${names.map(
    (name) => html`<a class="button bare" aria-current=${current(name)}
      href=${addressOf({ kind, view: name })}>${title(name ?? 'table')}</a>`,
  )}</span>`;
}

/** Anybody can send the query of a page. */
function source(queries: readonly string[]) {
  const query = documentOf(queries);
  const graphiql = html`<a class="link" href=${`graphql?${new URLSearchParams({ query })}`}>Open in GraphiQL</a>`;
  return html`<details class="query">
    <summary>Query</summary>
    <pre class="scroll card pad" tabindex="0">${query}</pre>
    <p class="row">${button('Copy query', () => void copyText(query))}
    ${document.body.dataset.graphiql === 'on' ? graphiql : nothing}</p>
  </details>`;
}

const explorer = new Explorer();

for (const type of ['dragover', 'drop'] as const) {
  document.addEventListener(type, (event) => {
    const view = viewOf(location.search);
    if (!event.dataTransfer?.types.includes('Files')) return;
    // The browser would leave the page for the file.
    event.preventDefault();
    if (type === 'drop' && explorer.mayWrite) void importFiles(view.kind, event.dataTransfer.files);
  });
}

/** The address of a view without its open branches and its columns. */
const addressInPlace = (search: string): string =>
  addressOf({ ...viewOf(search), open: undefined, columns: undefined });

/**
 * Links and forms lead to other views without loading the page anew. (Browsers without this interface load it.) The
 * browser restores focus and scroll position: on the way back, once the whole page is drawn. Opening a branch of a
 * tree, or choosing columns, keeps them.
 */
window.navigation?.addEventListener('navigate', (event) => {
  const { canIntercept, hashChange, navigationType, destination } = event;
  const { pathname, search } = new URL(destination.url);
  const isBack = navigationType === 'traverse';
  // A page that is loaded again is replaced by itself.
  const isOther = navigationType === 'push' || destination.url !== location.href;
  if (!canIntercept || hashChange || !(isBack || isOther) || pathname !== location.pathname) return;
  if (isUnsaved() && !confirm('Leave without saving what you have entered?')) {
    event.preventDefault();
    return;
  }
  const isInPlace = addressInPlace(search) === addressInPlace(location.search);
  if (!isInPlace) for (const open of document.querySelectorAll<HTMLElement>(':popover-open')) open.hidePopover();
  event.intercept({
    ...(isInPlace && ({ scroll: 'manual', focusReset: 'manual' } as const)),
    handler: () => (isBack ? explorer.show() : new Promise((resolve) => void explorer.show(resolve).then(resolve))),
  });
});

window.addEventListener('beforeunload', (event) => {
  if (isUnsaved()) event.preventDefault();
});

document.addEventListener('keydown', moveInTable);
document.addEventListener('keydown', focusSearch);

/** A link would change the address, in which the map keeps its position. */
document.querySelector('.skip')?.addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});

/** Another key may be of another user, of another workspace, or read only. */
document.getElementById('key-dialog')?.addEventListener('close', ({ target }) => {
  if (['use', 'forget'].includes((target as HTMLDialogElement).returnValue)) location.reload();
});

await explorer.show();
await follow(
  () => explorer.identify(),
  () => explorer.refresh(),
);
