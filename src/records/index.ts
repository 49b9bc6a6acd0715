/** The record kinds, and everything derived from all: IDs, the order of writes, reverse links. */
import type { Field, ForeignReferenceField, ReferenceField } from '../model/fields.ts';
import { labelKey, listField } from '../model/labels.ts';
import type { RecordKind } from '../model/record-kind.ts';
import type { ReverseLink } from '../model/reverse-link.ts';
import { allocation } from './allocation.ts';
import { asset } from './asset.ts';
import { assetCategory } from './asset-category.ts';
import { label, labelledFields, labelledTypes } from './label.ts';
import { location } from './location.ts';
import { project } from './project.ts';
import { transportOrder } from './transport-order.ts';
import { workOrder } from './work-order.ts';

export {
  allocation,
  asset,
  assetCategory,
  label,
  labelKey,
  labelledFields,
  labelledTypes,
  location,
  project,
  transportOrder,
  workOrder,
};

export const recordKinds: readonly RecordKind[] = [
  asset,
  workOrder,
  project,
  location,
  transportOrder,
  assetCategory,
  allocation,
  label,
];

const kindsByName = new Map(recordKinds.map((kind) => [kind.name, kind]));
const kindsByIdPrefix = new Map(recordKinds.map((kind) => [kind.idPrefix, kind]));

export function kindNamed(name: string): RecordKind {
  const kind = kindsByName.get(name);
  if (!kind) throw new Error(`unknown record kind ${name}`);
  return kind;
}

/** Targets of references first. Kinds that refer to each other keep the order of `recordKinds`. */
export const linkOrder: readonly RecordKind[] = order();

function order(): RecordKind[] {
  const ordered = new Set<RecordKind>();
  const visiting = new Set<RecordKind>();
  const visit = (kind: RecordKind): void => {
    if (visiting.has(kind)) return;
    visiting.add(kind);
    for (const field of Object.values(kind.fields)) {
      const target = field.type === 'reference' && recordKinds.find(({ name }) => name === field.target);
      if (target) visit(target);
    }
    ordered.add(kind);
  };
  for (const kind of recordKinds) visit(kind);
  return [...ordered];
}

const links = recordKinds.flatMap(linksTo);

for (const { target, name, kind, field } of links) {
  const hasField = recordKinds.some((other) => other.name === target && Object.hasOwn(other.storedFields, name));
  if (hasField || links.filter((other) => other.target === target && other.name === name).length > 1) {
    throw new Error(
      `${target} has two fields named ${name}: give the reference ${kind.name}.${field} another reverse link`,
    );
  }
}

export const reverseLinksOf = (target: string): readonly ReverseLink[] =>
  links.filter((link) => link.target === target);

/** The link to the ancestors, if records form a tree. */
export const treeOf = (kindName: string): ReverseLink | undefined =>
  reverseLinksOf(kindName).find(({ direction }) => direction === 'ancestors');

function linksTo(kind: RecordKind): ReverseLink[] {
  return Object.entries(kind.storedFields).flatMap(([field, declared]): ReverseLink[] => {
    if (!isReference(declared)) return [];
    const { target, reverse = listField(kind) } = declared;
    const link = { name: reverse, target, kind, field, direction: 'referring' } as const;
    // Records form a tree if each has at most one parent of its kind, which must exist.
    const isTree = declared.type === 'reference' && declared.mustExist && target === kind.name;
    if (isTree) return [link, { ...link, name: 'ancestors', direction: 'ancestors' }];
    const clashes = { ...link, target: kind.name, name: 'clashes', direction: 'clashing' } as const;
    return kind.occupies === field ? [link, clashes] : [link];
  });
}

/** Without Workspace: a request sees one workspace, whose links would repeat the lists. */
function isReference(field: Field): field is ReferenceField | ForeignReferenceField {
  return field.type === 'reference' || (field.type === 'foreignReference' && field.target !== 'Workspace');
}

// IDs are TypeIDs of the kind's prefix and a UUIDv7: `asset_01h455vb4pex5vsknk084sn02q`. They sort by creation.

/** A prefix, and 128 bits in Crockford's base 32: 26 characters, the first with three bits. */
const typeId = /^([a-z]+(?:_[a-z]+)*)_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

const maxIdLength = 63 + 1 + 26;

/** Undefined for a foreign identifier. */
export function kindOfId(id: string): RecordKind | undefined {
  const prefix = id.length > maxIdLength ? undefined : typeId.exec(id)?.[1];
  return prefix === undefined ? undefined : kindsByIdPrefix.get(prefix);
}

const digits = '0123456789abcdefghjkmnpqrstvwxyz';
const pairs = Array.from({ length: 1_024 }, (_, n) => `${digits[n >>> 5]}${digits[n & 31]}`);

const bits20 = (n: number): string => `${pairs[n >>> 10]}${pairs[n & 1_023]}`;
const bits30 = (n: number): string => `${pairs[n >>> 20]}${bits20(n & 0xf_ffff)}`;

const maxTail = 2 ** 30 - 1;

/** The last ID: its millisecond, the first 14 of 26 digits, and the other 12 as two numbers that count up. */
let time = 0;
let head = '';
let upperTail = 0;
let lowerTail = 0;

/**
 * IDs ascend within a process, even if the clock goes back. Made one by one by a library, they would take a tenth of
 * the CPU time of a batched record.
 */
export function newIds(prefix: string, count: number): string[] {
  const now = Date.now();
  if (now > time) startMillisecond(now);
  const start = `${prefix}_${head}`;
  return Array.from({ length: count }, () => {
    if (lowerTail === maxTail) upperTail += 1;
    lowerTail = lowerTail === maxTail ? 0 : lowerTail + 1;
    return `${start}${bits30(upperTail)}${bits30(lowerTail)}`;
  });
}

/** 48 bits of time, version 7, 12 random bits, variant 2, 62 random bits, one of them 0 to leave room to count. */
function startMillisecond(now: number): void {
  time = now;
  const [first = 0, second = 0, third = 0] = crypto.getRandomValues(new Uint32Array(3));
  const versioned = 0x7_0000 | ((first >>> 20) << 4) | 0b1000 | (first & 3);
  head = bits20(Math.floor(now / 2 ** 30)) + bits30(now % 2 ** 30) + bits20(versioned);
  upperTail = second >>> 3;
  lowerTail = third >>> 2;
}
