import { z } from 'zod';

const MAX_DURATION_MS = 7 * 86_400_000;

/**
 * Milliseconds with a fraction. A negative value counts as 0: a server may answer before the whole
 * request was sent, which is no reason to reject the result.
 */
export const duration = z
  .number()
  .max(MAX_DURATION_MS)
  .overwrite((ms) => Math.max(0, ms));

export const durationOrNull = duration.nullable();
