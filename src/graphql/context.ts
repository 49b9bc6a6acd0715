import type { Session } from '../services/session.ts';
import type { AnswerSize } from './answer-size.ts';
import type { Loaders } from './loaders.ts';

/** What every resolver gets. Made for one request, so that nothing is shared between users. */
export interface Context {
  readonly session: Session;
  readonly loaders: Loaders;
  readonly answerSize: AnswerSize;
}
