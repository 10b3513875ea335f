import { z } from 'zod';

/** How a maintenance window comes again (SEMANTICS 6). */
export const REPEAT_UNITS = ['DAY', 'WEEK', 'MONTH'] as const;

/** The part of a maintenance window by which checks pause, as agents are told it. */
export const pauseSchema = z.object({
  /** Epoch milliseconds of the first occurrence. */
  startsAtMs: z.number(),
  /** Exclusive. */
  endsAtMs: z.number(),
  repeatUnit: z.enum(REPEAT_UNITS),
  /** Units between the beginnings of two occurrences; null where there is one only. */
  repeatInterval: z.int().min(1).nullable(),
  /** No occurrence begins at this instant or later; null for never ending. */
  repeatEndsAtMs: z.number().nullable(),
  /** Checks with any of these tags, of their own or their group's; null for all checks. */
  tags: z.array(z.string()).nullable(),
});
export type Pause = z.output<typeof pauseSchema>;
