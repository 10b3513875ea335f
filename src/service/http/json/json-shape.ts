const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const COMMA = 0x2c;

export interface JsonBounds {
  /** Lists and objects inside of each other. */
  readonly maxDepth: number;
  /** Members of objects and items of lists, in all. */
  readonly maxValues: number;
  /** Members of one object. */
  readonly maxKeys: number;
}

/** Less than any body has commas: a list's are not counted. */
const LIST = -0x8000_0000;

/**
 * Whether the UTF-8 bytes of a JSON text are within bounds. What is no JSON gets some answer, too,
 * and in the same time: one pass over the bytes. Parsing nests without a limit, and whatever walks
 * the value afterwards would run out of stack; and a key costs a hundred times what its bytes do.
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
