import { invalid } from '../../errors.ts';
import { bodyProblem } from './input-problems.ts';

/** A body before the model validates it. */
export type RawBody = Readonly<Record<string, unknown>>;

/**
 * Returns the fields that an update changes. Removes fields that are undefined, identify the resource or are
 * added by the service: a client may send these back.
 *
 * @param fixed the fields that identify the resource, such as its id; undefined if the value is not known here
 * @throws ServiceError 400 if the body has another value for one of them
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
