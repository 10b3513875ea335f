import { isAscii } from 'node:buffer';

const utf8 = new TextDecoder('utf-8');

/**
 * Decodes a body as browsers do (WHATWG Encoding, "decode"): by its byte order mark, else the
 * content type's charset, else, also for an unknown charset, as UTF-8. Invalid bytes become U+FFFD;
 * the mark is left out.
 *
 * @param part `start`: a character that the end cuts in two is left out
 */
export function decodeText(
  bytes: Buffer,
  contentType: string | null,
  part: 'whole' | 'start' = 'whole',
): string {
  const label = markedEncoding(bytes) ?? charsetOf(contentType) ?? 'utf-8';
  if (label === 'utf-8' && isAscii(bytes)) return bytes.toString('latin1');
  if (label === 'utf-8' && part === 'whole') return utf8.decode(bytes);
  const decoder = decoderFor(label);
  const text = decoder.decode(bytes, { stream: part === 'start' });
  return decoder.encoding === 'windows-1252' ? withoutC1(text) : text;
}

/** windows-1252 from 80 to 9F (hexadecimal); five of its positions are control characters. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** Some Node versions do not map these positions in windows-1252, which also stands for Latin-1. */
function withoutC1(text: string): string {
  return text.replace(/[\u0080-\u009f]/g, (char) => WINDOWS_1252.charAt(char.charCodeAt(0) - 0x80));
}

/** The charset parameter in lower case; null if there is none. RFC 9110 8.3.1. */
export function charsetOf(contentType: string | null): string | null {
  const match = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))/i.exec(contentType ?? '');
  return (match?.[1] ?? match?.[2] ?? match?.[3])?.trim().toLowerCase() ?? null;
}

/** The encoding that a byte order mark names; null if there is none. */
export function markedEncoding(bytes: Buffer): string | null {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return null;
}

function decoderFor(label: string): typeof utf8 {
  try {
    return new TextDecoder(label);
  } catch {
    // An encoding that this runtime does not know.
    return new TextDecoder('utf-8');
  }
}
