import { z } from 'zod';
import { id, instant, locationName } from './fields.ts';

/**
 * Asks the service to run the next attempt in another of the check's locations (`sameRegion` false).
 * The agent makes the retry itself unless the answer names a location.
 */
export const handoverRequestSchema = z.object({
  agentId: id,
  epoch: z.int().min(0),
  checkId: id,
  slot: instant,
  sequenceId: id,
  /** Including the attempt that just failed: the number of retries of the next attempt. */
  retriesMade: z.int().min(1).max(10),
  firstStartedAt: instant,
  /** Epoch milliseconds at which the retry is due, after its backoff. */
  notBefore: instant,
});
export type HandoverRequest = z.output<typeof handoverRequestSchema>;

/** `location` null: no other location makes the retry. */
export const handoverResponseSchema = z.object({
  runId: id.nullable(),
  location: locationName.nullable(),
});
export type HandoverResponse = z.output<typeof handoverResponseSchema>;
