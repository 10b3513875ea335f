import { z } from 'zod';
import { id, instant, locationName } from './fields.ts';

/**
 * Asks the service to have the next attempt of a run made in another of the check's locations
 * (`sameRegion` false). Until it says that it has found one, the retry is the agent's own.
 */
export const handoverRequestSchema = z.object({
  agentId: id,
  epoch: z.int().min(0),
  checkId: id,
  slot: instant,
  sequenceId: id,
  /** With the attempt that just failed: what the next one is to carry as its number of retries. */
  retriesMade: z.int().min(1).max(10),
  firstStartedAt: instant,
  /** When the retry is due, after its back-off. */
  notBefore: instant,
});
export type HandoverRequest = z.output<typeof handoverRequestSchema>;

/** `location` null: nobody took it, so the agent makes the retry itself. */
export const handoverResponseSchema = z.object({
  runId: id.nullable(),
  location: locationName.nullable(),
});
export type HandoverResponse = z.output<typeof handoverResponseSchema>;
