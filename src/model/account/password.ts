import { z } from 'zod';

const MIN_CHARS = 8;
export const MAX_PASSWORD_CHARS = 256;

/** Length alone counts: NIST SP 800-63B, 3.1.1.2. */
export const newPassword = z
  .string()
  .refine((text) => lengthOf(text) >= MIN_CHARS, `must have at least ${MIN_CHARS} characters`)
  .refine(
    (text) => lengthOf(text) <= MAX_PASSWORD_CHARS,
    `must have at most ${MAX_PASSWORD_CHARS} characters`,
  )
  .describe(`${MIN_CHARS} to ${MAX_PASSWORD_CHARS} characters of any kind.`);

function lengthOf(text: string): number {
  return [...text].length;
}
