/** Names of labels in columns of their IDs: `In use` is stored as `status-7`. */
import type { Yardgraph } from '../../client/index.ts';
import type { ForeignReferenceField } from '../model/fields.ts';
import { quote } from '../model/issues.ts';
import { words } from '../model/labels.ts';
import { sortKey } from '../model/sort-key.ts';
import { label, labelKey } from '../records/index.ts';
import { describeDifference, isTypo } from './alike.ts';
import { readByKeys, type Wanted } from './edits.ts';
import { readNodes, slices } from './requests.ts';
import { detached, type FileRow, type RowIssue } from './row.ts';

interface NamedLabel {
  readonly key: string;
  readonly name: string;
}

type Meaning =
  | { readonly id: string; readonly isNew?: boolean }
  | Pick<RowIssue, 'message' | 'alike' | 'help' | 'creatable'>;

/** The most labels of a type that may be meant by typing errors, and the most errors to compare with them. */
const maxCompared = 1_000;
const maxErrors = 100;

interface LabelOptions {
  readonly yardgraph: Yardgraph;
  readonly createdTypes: readonly string[];
  readonly keepsUnknown: boolean;
  /** By `meaningKey`, IDs that a stopped import has stored: labels may have other names now. */
  readonly stored: Record<string, string>;
  readonly save: (() => void) | undefined;
}

export class LabelNames {
  readonly #options: LabelOptions;
  /** By `meaningKey`, the texts looked up so far. */
  readonly #meanings = new Map<string, Meaning>();
  /** By type, the names of its first labels. */
  readonly #names = new Map<string, string[]>();
  /** By `alikeKey`, the names of labels to create. */
  readonly #created = new Map<string, string>();
  #errors = 0;

  constructor(options: LabelOptions) {
    this.#options = options;
  }

  /** Returns the rows with IDs, or with issues. Where a type has no labels, texts stay as IDs of another system. */
  async resolve(rows: readonly FileRow[]): Promise<readonly FileRow[]> {
    const textsByType = new Map<string, Map<string, LabelText>>();
    for (const text of rows.flatMap(labelTexts)) {
      const key = meaningKey(text);
      if (this.#meanings.has(key)) continue;
      textsByType.set(text.type, (textsByType.get(text.type) ?? new Map()).set(key, text));
    }
    for (const [type, texts] of textsByType)
      if ((await this.#namesOf(type)).length > 0) await this.#find(type, [...texts.values()]);
    return rows.map((row) => this.#resolveRow(row));
  }

  #resolveRow(row: FileRow): FileRow {
    const fields: Record<string, unknown> = {};
    const issues: RowIssue[] = [];
    const newLabels: string[] = [];
    for (const labelText of labelTexts(row)) {
      const { field, type, text } = labelText;
      const meaning = this.#meanings.get(meaningKey(labelText));
      if (meaning && 'id' in meaning) fields[field] = meaning.id;
      else if (meaning) issues.push({ path: [field], ...meaning });
      if (meaning && 'isNew' in meaning) newLabels.push(labelKey(type, text));
    }
    if (issues.length === 0 && Object.keys(fields).length === 0) return row;
    return { ...row, fields: { ...row.fields, ...fields }, issues: [...row.issues, ...issues], newLabels };
  }

  async #namesOf(type: string): Promise<readonly string[]> {
    const names = this.#names.get(type) ?? [];
    if (this.#names.has(type)) return names;
    this.#names.set(type, names);
    const where = { key: { startsWith: labelKey(type, '') } };
    for await (const { name = '' } of readNodes(this.#options.yardgraph, label, 'name', where))
      if (names.push(name) === maxCompared) break;
    return names;
  }

  async #find(type: string, texts: readonly LabelText[]): Promise<void> {
    const { yardgraph, keepsUnknown, createdTypes, stored, save } = this.#options;
    const keys = texts.map(({ text }): Wanted => [label, labelKey(type, text), []]);
    const ids = await readByKeys(yardgraph, keys);
    const isId = ({ by, text }: LabelText) => by === 'any' && ids.has(labelKey(type, text));
    const names = texts.flatMap((named) => (isId(named) || stored[meaningKey(named)] ? [] : named.text));
    const byName = new Map<string, NamedLabel[]>();
    for (const some of slices(names)) {
      const where = { key: { startsWith: labelKey(type, '') }, or: some.map((name) => ({ name: { alike: name } })) };
      for await (const { key = '', name = '' } of readNodes(yardgraph, label, 'key name', where))
        byName.set(sortKey(name), [...(byName.get(sortKey(name)) ?? []), { key, name }]);
    }
    const { length } = Object.keys(stored);
    for (const labelText of texts) {
      const { text } = labelText;
      const key = meaningKey(labelText);
      const id = stored[key] ?? (isId(labelText) ? text : undefined);
      const alike = byName.get(sortKey(text)) ?? [];
      let meaning: Meaning = id === undefined ? meaningOf(labelText, alike, labelKey(type, '').length) : { id };
      const isTaken = ids.has(labelKey(type, text));
      const created = this.#created.get(`${type} ${sortKey(text)}`);
      // Stored meanwhile, or not: a preview and every resumed run decide alike.
      if (id === undefined && created !== undefined && created !== text)
        meaning = { message: isCreated(type, created, text) };
      else if (keepsUnknown && 'creatable' in meaning && labelText.by === 'any') meaning = { id: text };
      else if (!keepsUnknown && createdTypes.includes(type) && 'creatable' in meaning && !isTaken) {
        meaning = { id: text, isNew: true };
        this.#created.set(detached(`${type} ${sortKey(text)}`), detached(text));
      } else if ('creatable' in meaning) meaning = this.#withName(meaning, labelText);
      this.#meanings.set(detached(key), meaning);
      if ('id' in meaning && meaning.id !== text) stored[detached(key)] = meaning.id;
    }
    if (Object.keys(stored).length > length) save?.();
  }

  #withName<M extends Pick<RowIssue, 'message'>>(meaning: M, { type, text }: LabelText): M {
    this.#errors += 1;
    const names = this.#errors > maxErrors ? [] : this.#names.get(type);
    const alike = names?.find((name) => isTypo(text, name));
    if (alike === undefined) return meaning;
    return { ...meaning, message: `${meaning.message} (did you mean ${quote(alike)}?)`, alike };
  }
}

const isCreated = (type: string, name: string, text: string): string =>
  `the import creates the ${words(type)} ${quote(name)}, which differs in ${describeDifference(name, text)}: write one of them`;

function meaningOf({ field, type, text, by }: LabelText, alike: readonly NamedLabel[], start: number): Meaning {
  const called = words(type);
  const exact = alike.filter(({ name }) => name === text);
  const [first, ...others] = exact.length > 0 ? exact : alike;
  if (!first) {
    const known = by === 'any' ? 'name or ID' : 'name';
    const help = `create it with --create-missing labels, or use --map COLUMN=${field} for IDs of another system`;
    return { message: `no ${called} has the ${known} ${quote(text)}`, help, creatable: label };
  }
  if (others.length > 0) {
    const ids = [first, ...others].slice(0, 3).map(({ key }) => quote(key.slice(start)));
    const which = `write one of their IDs, such as ${ids.join(', ')}`;
    return { message: `more than one ${called} has the name ${quote(text)}: ${which}` };
  }
  if (first.name === text) return { id: first.key.slice(start) };
  const difference = `It differs in ${describeDifference(first.name, text)}`;
  return { message: `there is the ${called} ${quote(first.name)}, did you mean it? ${difference}`, alike: first.name };
}

interface LabelText {
  readonly field: string;
  readonly type: string;
  readonly text: string;
  readonly by: 'any' | 'name';
}

const labelTexts = ({ kind, fields, named = {} }: FileRow): LabelText[] =>
  Object.entries(named).map(([field, by]) => {
    const { target: type } = kind.storedFields[field] as ForeignReferenceField;
    return { field, type, text: String(fields[field]), by };
  });

/** No key of a label has a space before its colon. */
const meaningKey = ({ type, text, by }: LabelText): string => (by === 'name' ? 'name ' : '') + labelKey(type, text);
