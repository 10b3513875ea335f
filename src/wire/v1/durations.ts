import { z } from 'zod';

const MAX_DURATION_MS = 7 * 86_400_000;

/**
 * Milliseconds with a fraction. One below 0 counts as 0: a server may answer before it was sent
 * all of a request, and that is no reason to lose the result.
 */
export const duration = z
  .number()
  .max(MAX_DURATION_MS)
  .overwrite((ms) => Math.max(0, ms));

export const durationOrNull = duration.nullable();
