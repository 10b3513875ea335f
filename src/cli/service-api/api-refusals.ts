import { z } from 'zod';
import type { Peer } from '../../agent/service-client/service-failure.ts';
import { VedetteError } from '../../runtime/errors.ts';
import type { ErrorResponse } from '../../wire/v1/error-response.ts';
import type { NeededRole } from './connection.ts';

const problemsSchema = z.array(z.object({ path: z.string(), message: z.string() })).min(1);

/** One or more: each problem of the request, or only the message. */
export function reasonsIn({ message, attributes }: ErrorResponse): readonly string[] {
  const problems = problemsSchema.safeParse(attributes.problems);
  if (!problems.success) return [message];
  return problems.data.map((problem) => `${problem.path} ${problem.message}`.trim());
}

/**
 * The error for a key that the service does not accept, or whose role is too low.
 *
 * @param roleReason see SendOptions
 */
export function refusedKey(
  { origin }: Peer,
  status: 401 | 403,
  answer: ErrorResponse | null,
  role: NeededRole,
  roleReason: string | null,
): VedetteError {
  const reason = answer === null ? `it answers ${status}` : answer.message;
  const advice =
    status === 401
      ? 'see that API_KEY is an API key of this service that was not revoked'
      : `use a key with the role ${role}${roleReason === null ? '' : `, ${roleReason}`}`;
  const what = status === 401 ? 'does not take the key' : 'refuses this to the key';
  const message = `the service at ${origin} ${what}: ${reason}; ${advice}`;
  return new VedetteError('config', 'API_KEY_REFUSED', message);
}
