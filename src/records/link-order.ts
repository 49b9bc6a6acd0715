/** The order in which records are written that link to each other. */
import type { RecordKind } from '../model/record-kind.ts';
import { recordKinds } from './index.ts';

/** The kinds, each after those that its references lead to. Where kinds refer to each other, their order is that of the registry. */
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
