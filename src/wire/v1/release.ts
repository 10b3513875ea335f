import { z } from 'zod';
import { boundedList, count, id } from './fields.ts';
import { MAX_ONE_OFFS } from './limits.ts';

/** Returns the lease on drain: the agent's checks move at once. */
export const releaseRequestSchema = z.object({
  agentId: id,
  epoch: count,
  done: boundedList(id, MAX_ONE_OFFS),
});
export type ReleaseRequest = z.output<typeof releaseRequestSchema>;

/** False if the lease had already ended or moved; the agent is done either way. */
export const releaseResponseSchema = z.object({ released: z.boolean() });
export type ReleaseResponse = z.output<typeof releaseResponseSchema>;
