import { invalid } from '../../errors.ts';
import { bodyProblem } from './input-problems.ts';

/** A body as it came: what is wrong with it the model tells. */
export type Input = Readonly<Record<string, unknown>>;

/**
 * What a caller changes, out of what a caller may send back of a resource that exists: fields that
 * are undefined, those that stay as they are, and those that the service itself adds are no change.
 *
 * @param fixed the fields that say which resource it is, such as its id; undefined: not known here
 * @throws ServiceError 400 where the body says another one of them
 */
export function givenFields(
  input: Input,
  { fixed, responseOnly }: { readonly fixed: Input; readonly responseOnly: readonly string[] },
): Input {
  const wrong = Object.entries(fixed).filter(
    ([field, value]) => value !== undefined && input[field] !== undefined && input[field] !== value,
  );
  if (wrong.length > 0) {
    throw invalid(
      wrong.map(([field, value]) => bodyProblem([field], `must be ${String(value)} here`)),
    );
  }
  return Object.fromEntries(
    Object.entries(input).filter(
      ([field, value]) => value !== undefined && !(field in fixed) && !responseOnly.includes(field),
    ),
  );
}
