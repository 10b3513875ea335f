import { z } from 'zod';

/** RFC 5321 4.5.3.1.3, without the angle brackets. */
const MAX_CHARS = 254;

export const emailSchema = z.email().max(MAX_CHARS).describe('The email address of the user.');

/** Normalises an email to the stored form, in lower case. */
export function emailOf(text: string): string {
  return text.trim().toLowerCase();
}
