import { type ErrorsRequest, errorsAnswerSchema } from '../../wire/v1/error-report.ts';
import { PATHS } from '../../wire/v1/limits.ts';
import type { RequestOptions, ServiceClient } from '../upload/service-client.ts';
import type { ServiceFaultKind } from '../upload/service-fault.ts';

export interface Sent {
  /** The service has the reports, or will never take them. */
  readonly isSettled: boolean;
  /** What the service asks to wait for, milliseconds. */
  readonly waitMs: number;
  /** For the log; null where they were taken. */
  readonly problem: string | null;
}

/**
 * - `later`: the same again at the next time
 * - `drop`: it will be refused again, and nothing depends on it
 */
const REACTIONS: Readonly<Record<ServiceFaultKind, 'later' | 'drop'>> = {
  offline: 'later',
  busy: 'later',
  failed: 'later',
  unauthorized: 'later',
  mismatch: 'later',
  refused: 'drop',
  stopped: 'later',
};

/** One try. What went wrong is a value. */
export async function sendReports(
  client: Pick<ServiceClient, 'post'>,
  request: ErrorsRequest,
  options: RequestOptions,
): Promise<Sent> {
  const answer = await client.post(PATHS.errors, request, {
    ...options,
    schema: errorsAnswerSchema,
  });
  if (answer.ok) return { isSettled: true, waitMs: 0, problem: null };
  const { kind, message, retryAfterMs, attributes } = answer.fault;
  // Its first poll is still to come, or is refused for now.
  const isEarly = attributes.reason === 'unknown_agent';
  return {
    isSettled: REACTIONS[kind] === 'drop' && !isEarly,
    waitMs: retryAfterMs ?? 0,
    problem: message,
  };
}
