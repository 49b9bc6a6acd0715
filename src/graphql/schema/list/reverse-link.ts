/** The fields that follow references backwards, on the types of record kinds and of objects kept elsewhere. */
import type { Limits } from '../../../config.ts';
import type { ReverseLink } from '../../../model/reverse-link.ts';
import { reverseLinksOf } from '../../../records/reverse-links.ts';
import type { FieldExtensions } from '../../plan/extensions.ts';
import type { ObjectFields } from '../builder.ts';
import { describeReverseLink } from '../field-labels.ts';
import { connectionCost, connectReferring } from './connection.ts';
import type { ConnectionTypes } from './connection-type.ts';

/** Returns one field for each reverse link of the type with this name. */
export const reverseLinkFields = <T extends { readonly id: string }>(
  t: ObjectFields<T>,
  typeName: string,
  types: ConnectionTypes,
  limits: Limits,
) => Object.fromEntries(reverseLinksOf(typeName).map((link) => [link.name, reverseLinkField(t, link, types, limits)]));

const reverseLinkField = <T extends { readonly id: string }>(
  t: ObjectFields<T>,
  link: ReverseLink,
  { connectionOf, argumentsOf }: ConnectionTypes,
  limits: Limits,
) =>
  t.field({
    type: connectionOf(link.kind),
    description: `${describeReverseLink(link)}, oldest first unless \`orderBy\` is set, page by page.`,
    extensions: { cost: connectionCost(limits) } satisfies FieldExtensions,
    args: argumentsOf(link.kind),
    // The cast is safe because the link leads to records of the connection's kind.
    resolve: ({ id }, args, context, info) => connectReferring(context, link, id, args, limits, info) as never,
  });
