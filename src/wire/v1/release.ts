import { z } from 'zod';
import { count, id, listOf } from './fields.ts';
import { MAX_ONE_OFFS } from './limits.ts';

/** Hands the lease back on drain, so that its checks move at once. */
export const releaseRequestSchema = z.object({
  agentId: id,
  epoch: count,
  done: listOf(id, MAX_ONE_OFFS),
});
export type ReleaseRequest = z.output<typeof releaseRequestSchema>;

/** False where the lease was another's by then, or over; either way the agent is done. */
export const releaseResponseSchema = z.object({ released: z.boolean() });
export type ReleaseResponse = z.output<typeof releaseResponseSchema>;
