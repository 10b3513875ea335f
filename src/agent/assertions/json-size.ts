/**
 * Maximum heap that a document may be expected to take. V8 ends the whole process, not just the
 * worker, if a thread's heap overflows in JSON.parse.
 */
const MAX_HEAP_BYTES = 400 * 1024 * 1024;
/** Shorter texts cannot exceed MAX_HEAP_BYTES. */
const MIN_COUNTED_CHARS = 4 * 1024 * 1024;

/** Measured on V8: an empty list or object takes 40 to 60 bytes, a short member about the same. */
const BYTES_PER_CONTAINER = 60;
const BYTES_PER_MEMBER = 60;
const BYTES_PER_ELEMENT = 8;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;

/** Why a JSON text cannot be parsed within MAX_HEAP_BYTES; null if it can. */
export function jsonProblem(text: string): string | null {
  if (text.length < MIN_COUNTED_CHARS) return null;
  return expectedHeapBytes(text) <= MAX_HEAP_BYTES
    ? null
    : 'it contains too many values to be read, more than about 400 MiB in memory';
}

export function expectedHeapBytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = stringEnd(text, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        bytes += BYTES_PER_CONTAINER;
        break;
      case COLON:
        bytes += BYTES_PER_MEMBER;
        break;
      case COMMA:
        bytes += BYTES_PER_ELEMENT;
        break;
    }
  }
  return bytes;
}

/** The position of the quote that ends the string which begins at `start`. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at;
  }
  return text.length;
}
