const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const COMMA = 0x2c;

export interface JsonBounds {
  /** Maximum nesting of lists and objects. */
  readonly maxDepth: number;
  /** Maximum number of members of all objects and items of all lists. */
  readonly maxValues: number;
  /** Maximum number of members of one object. */
  readonly maxKeys: number;
}

/** The initial count for a list: so low that its commas never reach the bound for objects. */
const LIST = -0x8000_0000;

/**
 * Whether the UTF-8 bytes of a JSON text are within bounds, in one pass over the bytes; for invalid
 * JSON the result is arbitrary. JSON.parse has no limit for nesting, and walking a deep value would
 * overflow the stack; a key takes a hundred times the memory of its bytes.
 */
export function jsonShape(
  json: Uint8Array,
  { maxDepth, maxValues, maxKeys }: JsonBounds,
): 'fits' | 'too-deep' | 'too-many' | 'too-many-keys' {
  /** Commas of the object or list that is open at each depth. */
  const commas = new Int32Array(maxDepth + 1);
  let depth = 0;
  let values = 0;
  let inText = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (inText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) inText = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      if (depth > maxDepth) return 'too-deep';
      values += 1;
      if (values > maxValues) return 'too-many';
      commas[depth] = byte === OPEN_LIST ? LIST : 0;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    else if (byte === COMMA) {
      values += 1;
      if (values > maxValues) return 'too-many';
      const own = (commas[depth] ?? 0) + 1;
      if (own >= maxKeys) return 'too-many-keys';
      commas[depth] = own;
    }
  }
  return 'fits';
}
