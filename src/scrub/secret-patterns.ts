import { isMaskable } from './maskable.ts';

const encoder = new TextEncoder();
/** In a header or an old page; a longer one would cost more memory than it is worth. */
const MAX_MISREAD_CHARS = 8192;

/**
 * The byte strings that are a secret: as UTF-8, without the white space at its ends (which HTTP and
 * forms take away), and, with other characters than ASCII, in Latin-1 and as UTF-8 that was read as
 * Latin-1, which header values are. What encodings make of them is the search's affair.
 */
export function patternsOf(secret: string): readonly Uint8Array[] {
  const trimmed = secret.trim();
  const values = trimmed !== secret && isMaskable(trimmed) ? [secret, trimmed] : [secret];
  return values.flatMap((value) => {
    const bytes = encoder.encode(value);
    if (bytes.length === value.length || value.length > MAX_MISREAD_CHARS) return [bytes];
    const misread = encoder.encode(Buffer.from(bytes).toString('latin1'));
    const latin1 = Buffer.from(value, 'latin1');
    // Where it can be written so.
    return latin1.toString('latin1') === value ? [bytes, misread, latin1] : [bytes, misread];
  });
}
