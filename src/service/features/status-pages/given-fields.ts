import { invalid } from '../../errors.ts';
import { bodyProblem } from '../input-problems.ts';

/** A body as it came: what is in it the model judges. */
export type Input = Readonly<Record<string, unknown>>;

/**
 * What an update gives, without what a response has beside: sent back, that is no change.
 *
 * @throws ServiceError 400 where the body is of something else
 */
export function givenFields(input: Input, id: string, responseOnly: readonly string[]): Input {
  if (input.id !== undefined && input.id !== id) {
    throw invalid([bodyProblem(['id'], `must be ${id} here`)]);
  }
  return Object.fromEntries(
    Object.entries(input).filter(
      ([field, value]) => value !== undefined && field !== 'id' && !responseOnly.includes(field),
    ),
  );
}
