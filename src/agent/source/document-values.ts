import { type Alias, isAlias, isCollection, isMap, isScalar, isSeq } from 'yaml';

/** How many values aliases (`*name`) may add to a document: a small file must stay small. */
const MAX_ALIASED_VALUES = 1_000_000;
const MAX_DEPTH = 50;
const MAX_NAME_CHARS = 60;

interface Converted {
  readonly value: unknown;
  /** Values in it, itself included, with aliases counted as if they were written out. */
  readonly size: number;
}

/** `converted` is null as long as the walk is still inside the anchored value. */
interface Anchored {
  readonly node: unknown;
  converted: Converted | null;
}

/**
 * Turns YAML nodes into plain values in one walk; what is not allowed goes to `refuse`. Anchors are
 * kept by name in the order of the text, since looking each alias up from the root is quadratic.
 */
export class PlainConverter {
  readonly #refuse: (node: unknown, message: string) => void;
  readonly #anchors = new Map<string, Anchored>();
  readonly #targets = new Map<Alias, unknown>();
  #aliasedValues = 0;

  constructor(refuse: (node: unknown, message: string) => void) {
    this.#refuse = refuse;
  }

  convert(root: unknown): unknown {
    return this.#convert(root, 0).value;
  }

  /** The node that an alias stood for in the walk; any other node is itself. */
  targetOf(node: unknown): unknown {
    return isAlias(node) ? this.#targets.get(node) : node;
  }

  #convert(node: unknown, depth: number): Converted {
    if (isAlias(node)) return this.#alias(node);
    if (depth > MAX_DEPTH) {
      return this.#refused(node, `the value is nested deeper than ${MAX_DEPTH} levels`);
    }
    const anchor = isScalar(node) || isCollection(node) ? node.anchor : undefined;
    if (anchor === undefined) return this.#plain(node, depth);
    const anchored: Anchored = { node, converted: null };
    this.#anchors.set(anchor, anchored);
    anchored.converted = this.#plain(node, depth);
    return anchored.converted;
  }

  #plain(node: unknown, depth: number): Converted {
    if (isMap(node)) return this.#map(node.items, depth);
    if (isSeq(node)) return this.#list(node.items, depth);
    return { value: isScalar(node) ? node.value : null, size: 1 };
  }

  #list(items: readonly unknown[], depth: number): Converted {
    let size = 1;
    const value = items.map((item) => {
      const converted = this.#convert(item, depth + 1);
      size += converted.size;
      return converted.value;
    });
    return { value, size };
  }

  #map(pairs: readonly { key: unknown; value: unknown }[], depth: number): Converted {
    let size = 1;
    const entries = new Map<string, unknown>();
    for (const pair of pairs) {
      const key = isScalar(pair.key) ? pair.key.value : null;
      if (typeof key !== 'string') {
        this.#refused(pair.key, 'a key must be text');
      } else if (entries.has(key)) {
        this.#refused(pair.key, `the key ${JSON.stringify(shortened(key))} is given twice`);
      } else {
        const converted = this.#convert(pair.value, depth + 1);
        size += converted.size;
        entries.set(key, converted.value);
      }
    }
    // Unlike assignment, this makes `__proto__` a key like any other.
    return { value: Object.fromEntries(entries), size };
  }

  #alias(node: Alias): Converted {
    const name = shortened(node.source);
    const anchored = this.#anchors.get(node.source);
    if (anchored === undefined) {
      return this.#refused(node, `*${name} stands for nothing: no &${name} comes before it`);
    }
    const { converted } = anchored;
    if (converted === null) {
      return this.#refused(node, `*${name} stands inside the value that it names`);
    }
    this.#targets.set(node, anchored.node);
    this.#aliasedValues += converted.size;
    if (this.#aliasedValues > MAX_ALIASED_VALUES) {
      const limit = `aliases may add ${MAX_ALIASED_VALUES} values`;
      return this.#refused(node, `*${name} makes the file too large: ${limit}`);
    }
    return converted;
  }

  #refused(node: unknown, message: string): Converted {
    this.#refuse(node, message);
    return { value: null, size: 1 };
  }
}

function shortened(name: string): string {
  return name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS)}…` : name;
}
