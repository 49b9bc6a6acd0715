/** What the checks of new records may ask the store, many of them at once. */
import DataLoader from 'dataloader';
import type { RecordKind } from '../model/record-kind.ts';

/** What a check of new records may ask: for nothing that another transaction changes. */
export interface CheckStore {
  /** Which of these values the field has in some record: in a transaction, none of those goes away before the end. */
  existing(kind: RecordKind, field: string, values: readonly string[]): Promise<ReadonlySet<string>>;
}

/** What is asked in the same step becomes one statement, whose result is for all that was asked. */
export function joinQuestions(store: CheckStore): CheckStore {
  const questions = new Map<string, DataLoader<readonly string[], ReadonlySet<string>>>();
  return {
    existing(kind, field, values) {
      const name = `${kind.name} ${field}`;
      const question =
        questions.get(name) ??
        new DataLoader(
          async (asked) => {
            const existing = await store.existing(kind, field, [...new Set(asked.flat())]);
            return asked.map(() => existing);
          },
          { cache: false },
        );
      questions.set(name, question);
      return question.load(values);
    },
  };
}
