import type { Logger } from '../../runtime/logger.ts';
import {
  type HandoverRequest,
  type HandoverResponse,
  handoverResponseSchema,
} from '../../wire/v1/handover.ts';
import { PATHS } from '../../wire/v1/limits.ts';
import type { Handover } from '../run/handover.ts';
import type { ServiceClient } from '../service-client/service-client.ts';

/** Short, because a retry without a delay waits for the answer. */
const LIMIT_MS = 5_000;

/** Offers retries to other locations through the service. */
export function createServiceHandover(parts: {
  readonly client: Pick<ServiceClient, 'post'>;
  readonly agentId: string;
  readonly epoch: () => number;
  readonly log: Logger;
}): Handover {
  const { client, agentId, log } = parts;
  return {
    async offer(retry, signal) {
      const { checkId, slotMs, sequenceId, retriesMade, firstStartedAtMs, notBeforeMs } = retry;
      const body: HandoverRequest = {
        agentId,
        epoch: parts.epoch(),
        checkId,
        slot: slotMs,
        sequenceId,
        retriesMade,
        // A slewed clock may have fractions.
        firstStartedAt: Math.round(firstStartedAtMs),
        notBefore: Math.round(notBeforeMs),
      };
      const answer = await client.post<HandoverResponse>(PATHS.handovers, body, {
        schema: handoverResponseSchema,
        timeoutMs: LIMIT_MS,
        signal,
      });
      if (!answer.ok) {
        const { kind, message } = answer.failure;
        log.debug(
          { checkId, kind },
          `retrying here: the service could not be asked for another location: ${message}`,
        );
        return false;
      }
      return answer.value.location !== null;
    },
  };
}
