/** What an import of rows with links must store, part by part: a model for random imports. */

export type KindName = 'locations' | 'assetCategories' | 'projects' | 'assets';

interface Values {
  readonly name: string | null;
  /** The ID of the system `erp`, or of an asset, its `uid`. */
  readonly key: string | null;
  readonly link: Stored | string | null;
}

export interface Stored extends Values {
  readonly kind: KindName;
  /** Of a record that was there before the import. */
  readonly id?: string;
}

export interface Row {
  readonly kind: KindName;
  readonly id: string | null;
  readonly name: string | null;
  readonly key: string | null;
  readonly link: string | null;
  /** `unread` if the import refuses a cell, `invalid` if the service does. */
  readonly flaw?: 'unread' | 'invalid' | undefined;
}

/** How rows of a kind are found, and how its links lead to their targets. */
export interface Mode {
  readonly upsertBy: 'create' | 'id' | 'key' | 'name';
  readonly linkBy: 'id' | 'any' | 'name' | 'key';
}

export const targetOf = { assetCategories: 'assetCategories', projects: 'locations', assets: 'locations' } as const;

interface Item {
  readonly row: Row;
  readonly before: Stored | undefined;
  /** The record, in its place if it is stored already. */
  readonly record: Stored;
  after: Values;
  readonly issues: string[];
  readonly dependsOn: Set<Item>;
}

type Link = { readonly item: Item } | { readonly record: Stored | string | null } | { readonly by: 'name' | 'key' };

export class ImportModel {
  readonly records: Stored[] = [];
  refused = 0;
  private readonly modes: Readonly<Record<KindName, Mode>>;
  private readonly createsMissing: boolean;
  private readonly seen = new Set<string>();
  private readonly names = new Map<string, string | null>();
  private readonly byRowId = new Map<string, Stored | null>();

  constructor(modes: Readonly<Record<KindName, Mode>>, createsMissing: boolean) {
    this.modes = modes;
    this.createsMissing = createsMissing;
  }

  importPart(rows: readonly Row[]): void {
    const read = rows.filter((row) => this.note(row));
    const items = new Map(read.map((row) => [row, this.itemOf(row)]));
    for (const row of rows) if (!items.has(row)) this.settle(row, null);
    const links = new Map<Item, Link>();
    for (const [row, item] of items) {
      const link = this.linkOf(row, items);
      if (link) links.set(item, link);
      else {
        items.delete(row);
        this.settle(row, null);
      }
    }
    const created: Stored[] = [];
    for (let missing: string[] = []; ; ) {
      created.push(...missing.map((name): Stored => ({ kind: 'locations', name, key: null, link: null })));
      this.decide([...items.values()], links, created);
      const names = [...items.values()].flatMap(({ issues }) => (issues.length === 1 ? issues : []));
      missing = [...new Set(names.flatMap((issue) => (issue.startsWith('missing ') ? [issue.slice(8)] : [])))];
      missing = missing.filter((name) => this.createsMissing && !this.names.has(`locations ${name}`));
      if (missing.length === 0) break;
    }
    this.records.push(...created);
    for (const [row, { issues, record, before, after }] of items) {
      this.settle(row, issues.length > 0 ? null : record);
      if (issues.length > 0) continue;
      Object.assign(record, after);
      if (!before) this.records.push(record);
    }
  }

  /** Returns false for a row that is refused: unread, or with the key or the ID of an earlier row. */
  private note({ kind, id, name, key, flaw }: Row): boolean {
    if (name !== null) this.names.set(`${kind} ${name}`, this.names.has(`${kind} ${name}`) ? null : id);
    const { upsertBy } = this.modes[kind];
    const isLinked = Object.entries(targetOf).some(
      ([from, to]) => to === kind && ['id', 'any'].includes(this.modes[from as KindName].linkBy),
    );
    const keys = { id, key, name, create: null };
    const own = [`${upsertBy} ${keys[upsertBy]}`, ...(isLinked ? [`id ${id}`] : [])].filter(
      (text) => !text.endsWith(' null'),
    );
    const isRepeated = own.some((text) => this.seen.has(`${kind} ${text}`));
    for (const text of own) this.seen.add(`${kind} ${text}`);
    return !isRepeated && flaw !== 'unread';
  }

  private itemOf(row: Row): Item {
    const { kind, name, key, flaw } = row;
    const { upsertBy } = this.modes[kind];
    const found = this.records.filter(
      (record) => record.kind === kind && upsertBy !== 'create' && record[upsertBy] === row[upsertBy],
    );
    const isKeyless = upsertBy !== 'create' && upsertBy !== 'id' && row[upsertBy] === null;
    const before = row[upsertBy === 'create' ? 'id' : upsertBy] === null || found.length > 1 ? undefined : found[0];
    const after = { name, key, link: null };
    const isAmbiguous = !isKeyless && upsertBy !== 'id' && found.length > 1;
    return {
      ...{ row, before, after, dependsOn: new Set<Item>() },
      record: before ?? { kind, ...after },
      issues: [flaw ?? '', isKeyless ? 'no key' : '', isAmbiguous ? 'several' : ''].filter(Boolean),
    };
  }

  /** Undefined for a link that the import refuses. */
  private linkOf({ kind, link }: Row, items: ReadonlyMap<Row, Item>): Link | undefined {
    if (link === null || kind === 'locations') return { record: null };
    const target = targetOf[kind];
    const { linkBy } = this.modes[kind];
    if (linkBy === 'name' || linkBy === 'key') return { by: linkBy };
    const byId = this.records.find((record) => record.id === link);
    if (byId && this.modes[target].upsertBy === 'id') return { record: byId };
    const inPart = [...items].find(([row]) => row.kind === target && row.id === link)?.[1];
    const isRow = inPart !== undefined || this.byRowId.has(`${target} ${link}`);
    if (linkBy === 'any' && !byId) {
      const name = `${target} ${link}`;
      if (!isRow || this.names.get(name) === link) return { by: 'name' };
      if (this.names.has(name) || this.records.some((it) => it.kind === target && it.name === link)) return undefined;
    }
    if (inPart) return { item: inPart };
    const earlier = this.byRowId.get(`${target} ${link}`);
    if (earlier === null) return undefined;
    return { record: earlier ?? byId ?? link };
  }

  /** Finds out which items are rejected, as the service does: all links are resolved once, beside all items. */
  private decide(items: readonly Item[], links: ReadonlyMap<Item, Link>, created: readonly Stored[]): void {
    for (const item of items) {
      item.issues.splice(0, Infinity, ...this.itemOf(item.row).issues);
      item.dependsOn.clear();
    }
    for (const item of items) this.resolve(item, links.get(item) as Link, items, created);
    this.checkUids(items.filter(({ row }) => row.kind === 'assets'));
    for (let before = -1; before !== countRejected(items); ) {
      before = countRejected(items);
      for (const item of items) {
        const isRejected = [...item.dependsOn].some(({ issues }) => issues.length > 0);
        if (isRejected && !item.issues.includes('dependent')) item.issues.push('dependent');
      }
      if (before === countRejected(items)) rejectCircles(items.filter(({ issues }) => issues.length === 0));
    }
  }

  private resolve(item: Item, link: Link, items: readonly Item[], created: readonly Stored[]): void {
    const { kind, link: text } = item.row;
    if (kind === 'locations') return;
    if ('record' in link) {
      if (typeof link.record === 'string' && kind === 'assetCategories') item.issues.push('no record');
      item.after = { ...item.after, link: link.record };
    } else if ('item' in link) {
      item.dependsOn.add(link.item);
      item.after = { ...item.after, link: link.item.record };
    } else {
      const target = targetOf[kind];
      const ofBatch = items.filter(({ row }) => row.kind === target);
      const others = [...this.records, ...created].filter(
        (it) => it.kind === target && !ofBatch.some(({ before }) => before === it),
      );
      const found = [
        ...others.filter((it) => it[link.by] === text),
        ...ofBatch.filter(({ after }) => after[link.by] === text).map(({ record }) => record),
      ];
      const isMissing = found.length === 0 && link.by === 'name' && target === 'locations';
      if (found.length !== 1) item.issues.push(isMissing ? `missing ${text}` : 'link');
      item.after = { ...item.after, link: found[0] ?? null };
      for (const other of ofBatch) {
        const isMet = (values: Values | undefined) => values?.[link.by] === text;
        if (other !== item && isMet(other.before) !== isMet(other.after)) item.dependsOn.add(other);
      }
    }
  }

  private checkUids(items: readonly Item[]): void {
    if (this.modes.assets.upsertBy === 'key') return;
    const taking = items.filter(({ before, after }) => after.key !== null && after.key !== before?.key);
    const first = new Set<string | null>();
    const waitsFor = new Map<Item, Item>();
    for (const item of taking) {
      const { key } = item.after;
      const holder = items.find(({ before, after }) => before?.key === key && after.key !== key);
      const isTaken = !holder && this.records.some((it) => it.kind === 'assets' && it.key === key);
      if (isTaken || first.has(key)) item.issues.push('taken');
      else if (holder) waitsFor.set(item, holder);
      first.add(key);
      if (holder && !isTaken && item.issues.at(-1) !== 'taken') item.dependsOn.add(holder);
    }
    for (const item of waitsFor.keys()) {
      let holder = waitsFor.get(item);
      for (let steps = 0; holder && holder !== item && steps < items.length; steps += 1) holder = waitsFor.get(holder);
      if (holder === item) item.issues.push('exchange');
    }
  }

  private settle({ kind, id }: Row, record: Stored | null): void {
    if (record === null) this.refused += 1;
    const name = `${kind} ${id}`;
    if (id !== null && !(record === null && this.byRowId.has(name))) this.byRowId.set(name, record);
  }
}

const countRejected = (items: readonly Item[]): number => items.filter(({ issues }) => issues.length > 0).length;

/** Rejects categories that would be their own ancestors. */
function rejectCircles(items: readonly Item[]): void {
  const moved = new Map(items.map(({ record, after }) => [record, after.link]));
  const parentOf = (record: Stored) => (moved.has(record) ? moved.get(record) : record.link);
  const inCircles = items.filter(({ record, row }) => {
    if (row.kind !== 'assetCategories') return false;
    let parent = parentOf(record);
    for (let steps = 0; parent && typeof parent !== 'string' && parent !== record && steps < 100; steps += 1)
      parent = parentOf(parent);
    return parent === record;
  });
  for (const { issues } of inCircles) issues.push('circle');
}
