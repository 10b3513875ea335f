import { invalid } from '../errors.ts';
import { bodyProblem } from './input-problems.ts';

/**
 * What a caller changes, out of what a caller may send back of a resource that exists: fields that
 * are undefined, and those that the service itself adds, are no change.
 *
 * @throws ServiceError 400 where the body names another resource than the path does
 */
export function givenFields(
  input: Readonly<Record<string, unknown>>,
  { id, responseOnly }: { readonly id: unknown; readonly responseOnly: readonly string[] },
): Readonly<Record<string, unknown>> {
  if (input.id !== undefined && input.id !== id) {
    throw invalid([bodyProblem(['id'], `must be ${String(id)} here`)]);
  }
  return Object.fromEntries(
    Object.entries(input).filter(
      ([field, value]) => value !== undefined && field !== 'id' && !responseOnly.includes(field),
    ),
  );
}
