/** The explorer: shows the view of the address, and again when records change. */
import { html, nothing, render } from 'lit-html';
import { constantCase } from '../model/labels.ts';
import { addressOf, type View, viewOf } from './address.ts';
import { deleted } from './deletions.ts';
import { creation, isUnsaved, mayLeave } from './form.ts';
import { imported, importFiles, imports } from './imports.ts';
import { isRecord, linkOf, otherViews, title as titleOf } from './kinds.ts';
import { locationMap } from './locations.ts';
import { overview } from './overview.ts';
import { documentOf } from './queries.ts';
import { record } from './record.ts';
import { moveToSearch, searchEverywhere, searchResults } from './search.ts';
import { type Data, follow, type Page, read, type Viewer } from './service.ts';
import { readCounts, sideBar } from './side.ts';
import { table } from './table.ts';
import { tree } from './tree.ts';
import { button, copyText, moveInTable, notice, timeTexts, toOverview } from './values.ts';
import { leaveReport, report } from './writes.ts';

const element = (id: string) => document.getElementById(id) as HTMLElement;
const main = element('main');

const missing: Viewer = {
  queries: () => [],
  draw: () => ({
    title: 'There is no such page',
    content: notice('The explorer has no view at this address', toOverview),
  }),
};

const viewers: Readonly<Record<string, Viewer>> = { map: locationMap, tree, new: creation, imports, deleted, missing };

function viewerOf({ kind, id, view = '', search }: View): Viewer {
  if (id !== undefined) return kind ? record : imported;
  return viewers[view] ?? (kind ? table : search ? searchResults : overview);
}

/** The results of a view's queries so far, and the error that ended them. */
interface Shown {
  readonly address: string;
  readonly view: View;
  data: Data;
  problem?: string;
}

async function* readParts(shown: Shown): AsyncGenerator<Data> {
  const { view } = shown;
  const viewer = viewerOf(view);
  if (viewer.read) return yield* viewer.read(view, shown.data);
  if (viewer.queries(view, shown.data).length === 0) yield {};
  for (let at = 0; at < viewer.queries(view, shown.data).length; at += 1)
    yield await read(viewer.queries(view, shown.data)[at] ?? '');
}

/** Others may write all the time, and all records are counted. */
const countIntervalMs = 5_000;

class Explorer implements Page {
  #writableKinds: readonly string[] = [];
  #shown: Shown = { address: '', view: {}, data: {} };
  /** The view that is being read. */
  #next = this.#shown;
  #reading = Promise.resolve();
  #refreshing: Promise<void> | undefined;
  #viewer = '';
  #counts: Data = {};
  #isCountStale = false;

  /** Reads the view of the address, and draws it. */
  show(onDrawn = () => {}): Promise<void> {
    this.#reading = this.#load(onDrawn);
    return this.#reading;
  }

  /** Reads the view again once it has been read: while others write all the time, the first read would never end. */
  refresh = (): Promise<void> => {
    this.#isCountStale = true;
    this.#refreshing ??= this.#reading.then(() => {
      this.#refreshing = undefined;
      return this.show();
    });
    return this.#refreshing;
  };

  /** Draws each part as soon as it is read. A view that is on the screen stays there, with the input of its forms. */
  async #load(onDrawn: () => void): Promise<void> {
    const { search: address } = location;
    const isSame = address === this.#shown.address;
    const next: Shown = { address, view: viewOf(address), data: isSame ? this.#shown.data : {} };
    this.#next = next;
    if (!isSame) main.ariaBusy = 'true';
    const put = (part: Partial<Shown>) => {
      if (next !== this.#next) return;
      this.#shown = Object.assign(next, part);
      this.#draw();
      main.ariaBusy = null;
      onDrawn();
    };
    try {
      for await (const part of readParts(next)) {
        if (next !== this.#next) return;
        put({ data: { ...next.data, ...part } });
      }
      if (!isSame && next.view.view === 'print') print();
    } catch (error) {
      put({ problem: (error as Error).message });
    }
  }

  #draw(): void {
    const { view, data, problem } = this.#shown;
    const viewer = viewerOf(view);
    const { title, crumb, note, actions, content } = viewer.draw(view, { ...data, problem }, this);
    const retry = button('Try again', () => void this.show());
    const failure = html`<div class="notice card pad row" role="alert">
      <span><b class="error">This page could not be read:</b> ${problemText(problem ?? '')}.</span> <span class="end">${retry}</span>
    </div>`;
    document.title = `${title} – Yardgraph`;
    // A form that is on the screen says itself that it cannot be stored.
    const isShown = problem !== undefined && (main.ariaBusy === 'true' || !main.querySelector('record-form'));
    const hasFocus = main.contains(document.activeElement);
    render(searchEverywhere(view), element('everywhere'));
    render(sideBar(view, this.#counts, this.#viewer), element('side'), { renderBefore: element('change-key') });
    render(
      html`<header class="head row">
          <div>${crumb ? html`<div><small>${crumb}</small></div>` : nothing}
            <h1>${title}</h1> <small role="status">${note}</small>
            <small class="printed">Printed on ${timeTexts(new Date().toISOString()).whole}</small></div>
          ${viewLinks(view)} <div class="row">${actions}</div>
        </header>
        ${isShown ? failure : nothing} ${content} ${source(viewer.queries(view, data))}`,
      main,
    );
    // The button that was pressed is gone.
    if (hasFocus && document.activeElement === document.body)
      (document.querySelector<HTMLElement>('.toast') ?? main).focus();
  }

  /** Counts the records again if they have changed. The feed of changes reports a service that is away. */
  async count(isStale = this.#isCountStale): Promise<void> {
    if (!isStale) return;
    this.#isCountStale = false;
    try {
      this.#counts = await readCounts();
      this.#draw();
    } catch (error) {
      // Each attempt without a key would open its dialog.
      this.#isCountStale = (error as Data).status !== 401;
    }
  }

  mayWrite = (kind?: string): boolean =>
    this.#writableKinds.some((own) => kind === undefined || own === constantCase(isRecord(kind) ? kind : 'Label'));

  identify = async (): Promise<void> => {
    const { viewer } = await read('viewer { workspace { id } user { id } writableKinds }');
    this.#writableKinds = viewer.writableKinds;
    document.body.dataset.workspace ??= viewer.workspace.id;
    const rights = this.mayWrite() ? '' : 'read only';
    this.#viewer = [viewer.workspace.id, viewer.user?.id, rights].filter(Boolean).join(' · ');
    if (this.#shown === this.#next) this.#draw();
    // A search needs its systems: the page is read again once it is live.
    await this.#reading.then(() => this.count(true));
  };
}

/** Names the field in place of the path of its argument, such as `where.createdAt.gt`. */
function problemText(problem: string): string {
  const [path = '', ...texts] = problem.split(': ');
  const field = path.startsWith('where.') ? path.split('.').at(-2) : undefined;
  return (field ? [titleOf(linkOf(field)), ...texts].join(': ') : problem).replace(/\.$/, '');
}

/** Links to the table, the map and the tree of the kind. */
function viewLinks({ kind = '', id, view }: View) {
  if (!kind || id !== undefined || view === 'new') return nothing;
  const current = view === 'print' ? undefined : view;
  const linkTo = (name?: string) => html`<a class="button bare" aria-current=${name === current ? 'page' : nothing}
    href=${addressOf({ kind, view: name })}>${titleOf(name ?? 'table')}</a>`;
  // A table without other views needs no link to itself.
  const others = otherViews[kind] ?? [];
  const views = [...(others.length > 0 || current ? [undefined] : []), ...others, 'deleted'];
  return html`<span class="row">${views.map(linkTo)}</span>`;
}

/** Anybody can send the query of a page. */
function source(queries: readonly string[]) {
  if (queries.length === 0) return nothing;
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
    const { kind = '' } = viewOf(location.search);
    if (!event.dataTransfer?.types.includes('Files')) return;
    // The browser would leave the page for the file.
    event.preventDefault();
    // The dialog that asks for a key would be below that of an import.
    if (type !== 'drop' || document.querySelector('#key-dialog[open]')) return;
    const given = isRecord(kind) ? kind : undefined;
    if (explorer.mayWrite(given)) void importFiles(given, event.dataTransfer.files);
    else report('This key cannot import files here: enter another one.');
  });
}

/** The address of a view without its open branches, columns and order, and the page of its history. */
function addressInPlace(search: string): string {
  const { open, columns, sort, ...view } = viewOf(search);
  return addressOf(view.kind && view.id ? { ...view, after: undefined } : view);
}

/** The address of the link by which each entry of the browser's history was left, and where it was, by its key. */
const leftBy = new Map<string, { readonly href: string; readonly top: number }>();

function returnTo(key: string, keepsScroll: boolean): void {
  const { href, top } = leftBy.get(key) ?? { href: '', top: scrollY };
  (main.querySelector<HTMLElement>(`a[href=${JSON.stringify(href)}]`) ?? main).focus({ preventScroll: true });
  // A browser forgets its own position while a page of another height is drawn.
  if (!keepsScroll) scrollTo(0, top);
}

/**
 * Links and forms lead to other views without loading the page anew. (Browsers without this interface load it.) On the
 * way back, once the whole page is drawn, the scroll position is restored, and the link that was followed gets the
 * focus. Opening a branch of a tree, sorting, or choosing columns keeps both, and a filter that is added or removed
 * leads back to its button.
 */
window.navigation?.addEventListener('navigate', (event) => {
  const { canIntercept, hashChange, navigationType, destination, signal } = event;
  const { pathname, search } = new URL(destination.url);
  const isBack = navigationType === 'traverse';
  // The map writes its position into the address.
  const isWritten = navigationType === 'replace' && destination.sameDocument;
  if (!canIntercept || hashChange || isWritten || navigationType === 'reload' || pathname !== location.pathname) return;
  if (!mayLeave()) {
    event.preventDefault();
    // The text of a search that was not made.
    document.querySelector<HTMLFormElement>('#everywhere form')?.reset();
    return;
  }
  const isInPlace = addressInPlace(search) === addressInPlace(location.search);
  const { activeElement } = document;
  // The keyboard is beside the undo of a form.
  const saved = document.querySelector('record-form') && document.querySelector<HTMLElement>('.toast');
  const id = activeElement?.id ?? '';
  // Not where the map writes its position.
  if (search !== location.search) document.querySelector<HTMLDialogElement>('dialog[open]')?.close();
  const isFilter = !isBack && !!activeElement?.closest('#filter, .chips, .facets, td .chip');
  const href = (main.contains(activeElement) && activeElement?.getAttribute('href')) || '';
  // While a page is read, the one before is on the screen.
  if (!main.ariaBusy) leftBy.set(window.navigation?.currentEntry?.key ?? '', { href, top: scrollY });
  if (!isInPlace) for (const open of document.querySelectorAll<HTMLElement>(':popover-open')) open.hidePopover();
  event.intercept({
    ...((isInPlace || isFilter) && ({ scroll: 'manual' } as const)),
    ...((isInPlace || isFilter || isBack || saved) && ({ focusReset: 'manual' } as const)),
    handler: async () => {
      leaveReport(viewOf(search));
      await (isBack ? explorer.show() : new Promise<void>((resolve) => void explorer.show(resolve).then(resolve)));
      if (isBack && !signal.aborted) returnTo(destination.key, isInPlace);
      if (!signal.aborted && !document.activeElement?.matches('input, textarea, select')) saved?.focus();
      if (isFilter) document.querySelector<HTMLElement>('[popovertarget=filter]')?.focus();
      // The menu of columns is drawn again, in another order.
      if (isInPlace && !signal.aborted) document.getElementById(id)?.focus();
    },
  });
});

window.addEventListener('beforeunload', (event) => {
  if (isUnsaved()) event.preventDefault();
});

// After a write of this page, with its message.
document.addEventListener('report', () => void explorer.count(true));
document.addEventListener('keydown', moveInTable);
document.addEventListener('keydown', moveToSearch);

/** A link would change the address, in which the map keeps its position. */
document.querySelector('.skip')?.addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});

/** Another key may be of another user, of another workspace, or read only. */
document.getElementById('key-dialog')?.addEventListener('close', ({ target }) => {
  if (['use', 'forget'].includes((target as HTMLDialogElement).returnValue)) location.reload();
});

void explorer.show();
setInterval(() => void explorer.count(), countIntervalMs);
await follow(explorer.identify, explorer.refresh);
