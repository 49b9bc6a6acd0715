/**
 * What an input item has beside the fields of its kind: references by an external ID or by the `ref` of another item, instead of an ID,
 * and the item's own `ref`. The services resolve them: see services/resolve-links.ts.
 */
import type { ReferenceField } from './fields.ts';
import { type Issue, isObject, type Parsed } from './issues.ts';
import { linkField } from './labels.ts';
import type { RecordKind } from './record-kind.ts';
import { identifierProblem, maxIdentifierLength, type RecordParser, textProblem, type ValueLimits } from './schemas.ts';

/** How a record is referred to without its ID. */
export type RecordLink =
  | { readonly externalId: ExternalId; readonly ref?: never }
  /** The `ref` of a record that the same mutation creates. */
  | { readonly ref: string; readonly externalId?: never };

export interface ExternalId {
  readonly key: string;
  readonly value: string;
}

export interface Link {
  /** The name in the input: `project` */
  readonly name: string;
  /** The reference to set: `projectId` */
  readonly field: string;
  readonly target: string;
  readonly to: RecordLink;
}

/** A parsed item that may have links, and a name by which others of the same mutation refer to it. */
export type Linkable<T> = Parsed<T> & { readonly links?: readonly Link[]; readonly ref?: string };

const aRef = `a text of 1 to ${maxIdentifierLength} characters`;

/** The references to records that are stored here, with the names of their links. */
export const linkFields = ({ fields }: RecordKind): readonly (readonly [string, string, ReferenceField])[] =>
  Object.entries(fields).flatMap(([field, declared]) =>
    declared.type === 'reference' ? [[linkField(field), field, declared] as const] : [],
  );

/** Parses an item with its links. A link that is null clears its reference, as the ID would. */
export function linkParser<T>(
  kind: RecordKind,
  limits: ValueLimits,
  parse: RecordParser<T>,
): (input: unknown) => Linkable<T> {
  const declared = linkFields(kind);
  return (input) => {
    if (!isObject(input)) return parse(input);
    const { ref, ...fields } = input as Record<string, unknown>;
    const links: Link[] = [];
    const issues: Issue[] = [];
    for (const [name, field, { target }] of declared) {
      const { [name]: sent } = fields;
      if (sent === undefined) continue;
      delete fields[name];
      if (fields[field] !== undefined) {
        issues.push({ path: [name], message: `expected ${field} or ${name}, received both` });
        delete fields[field];
      } else if (sent === null) fields[field] = null;
      else {
        // The cast is safe: GraphQL has validated the types.
        const to = sent as RecordLink;
        const problems = linkIssues(to, limits);
        if (problems.length === 0) links.push({ name, field, target, to });
        for (const { path, message } of problems) issues.push({ path: [name, ...path], message });
      }
    }
    const refProblem = typeof ref === 'string' ? identifierProblem(ref, aRef) : undefined;
    if (refProblem !== undefined) issues.push({ path: ['ref'], message: refProblem });
    return {
      ...withIssues(parse(fields), issues),
      ...(links.length > 0 && { links }),
      ...(typeof ref === 'string' && { ref }),
    };
  };
}

function linkIssues({ externalId, ref }: RecordLink, { maxTextLength }: ValueLimits): Issue[] {
  if (!externalId) {
    const problem = identifierProblem(String(ref), aRef);
    return problem === undefined ? [] : [{ path: ['ref'], message: problem }];
  }
  return (['key', 'value'] as const).flatMap((part) => {
    const problem = textProblem(externalId[part], maxTextLength);
    return problem === undefined ? [] : [{ path: ['externalId', part], message: problem }];
  });
}

/** The same item, with further issues. */
export function withIssues<T>(item: Linkable<T>, issues: readonly Issue[]): Linkable<T> {
  if (issues.length === 0) return item;
  const { value, issues: others = [], validFields = value ?? {}, ...rest } = item;
  return { ...rest, issues: [...issues, ...others], validFields: validFields as Readonly<Record<string, unknown>> };
}
