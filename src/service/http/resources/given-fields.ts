import { invalid } from '../../errors.ts';
import { bodyProblem } from './input-problems.ts';

/** A body before the model validates it. */
export type RawBody = Readonly<Record<string, unknown>>;

/**
 * The fields that an update changes: without those that are undefined, that identify the resource, or
 * that the service adds, all of which a client may send back.
 *
 * @param fixed the fields that identify the resource, such as its id; undefined: not known here
 * @throws ServiceError 400 where the body has another value for one of them
 */
export function givenFields(
  input: RawBody,
  { fixed, responseOnly }: { readonly fixed: RawBody; readonly responseOnly: readonly string[] },
): RawBody {
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
