import type { Logger } from '../../../runtime/logger.ts';
import { PATHS } from '../../../wire/v1/limits.ts';
import { type ReleaseRequest, releaseResponseSchema } from '../../../wire/v1/release.ts';
import type { ServiceClient } from '../../service-client/service-client.ts';

const RELEASE_TIMEOUT_MS = 5_000;
/** Begins log lines. */
export const NOT_RELEASED =
  'could not release the checks; other agents take them over when the lease expires';

/**
 * Gives up the lease of an agent that stops, so that other agents take its checks over at once.
 *
 * @returns whether the service answered; logs a failure
 */
export async function releaseChecks(
  { client, log }: { readonly client: Pick<ServiceClient, 'post'>; readonly log: Logger },
  request: ReleaseRequest,
  signal: AbortSignal,
): Promise<boolean> {
  const answer = await client.post(PATHS.release, request, {
    schema: releaseResponseSchema,
    timeoutMs: RELEASE_TIMEOUT_MS,
    signal,
  });
  if (!answer.ok) {
    const { kind, message } = answer.failure;
    log.warn({ kind }, `${NOT_RELEASED}: ${message}`);
    return false;
  }
  log.info(answer.value.released ? 'released the checks' : 'there were no checks to release');
  return true;
}
