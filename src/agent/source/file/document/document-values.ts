import { type Alias, isAlias, isCollection, isMap, isScalar, isSeq } from 'yaml';
import { MAX_DEPTH } from '../../common/document-depth.ts';
import { keyText } from '../../common/file-problem.ts';

/** How many values aliases (`*name`) may add to a document, so that a small file stays small. */
const MAX_ALIASED_VALUES = 1_000_000;

interface Converted {
  readonly value: unknown;
  /** The number of values in it, including itself, with aliases expanded. */
  readonly size: number;
}

/** `converted` is null while the walk is inside the anchored value. */
interface Anchored {
  readonly node: unknown;
  converted: Converted | null;
}

/**
 * Converts YAML nodes to plain values in one walk; calls `refuse` for what is not allowed. Indexes
 * anchors by name in the order of the text, since resolving each alias from the root is quadratic.
 */
export class PlainConverter {
  readonly #refuse: (node: unknown, message: string) => void;
  readonly #anchors = new Map<string, Anchored>();
  readonly #targets = new Map<Alias, unknown>();
  #aliasedValues = 0;
  #isWhole = true;

  constructor(refuse: (node: unknown, message: string) => void) {
    this.#refuse = refuse;
  }

  /** Whether every value was converted. For a key that is given twice, the first value counts. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  convert(root: unknown): unknown {
    return this.#convert(root, 0).value;
  }

  /** The node that an alias refers to; other nodes are returned unchanged. */
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
        // In `{ value: ab,cd,cd }`, `cd` is not a key, but a part of a possible secret.
        const isRest = pair.value === null && !key.includes(':');
        if (isRest) this.#refused(pair.key, 'a key that is not shown here is given twice');
        else this.#refuse(pair.key, `the key ${keyText(key)} is given twice`);
      } else {
        const converted = this.#convert(pair.value, depth + 1);
        size += converted.size;
        entries.set(key, converted.value);
      }
    }
    // Unlike assignment, this allows `__proto__` as a key.
    return { value: Object.fromEntries(entries), size };
  }

  #alias(node: Alias): Converted {
    const anchored = this.#anchors.get(node.source);
    if (anchored === undefined) {
      // Its name is not shown: it may be a password that starts with * and lacks quotes.
      return this.#refused(
        node,
        'this alias is not defined: no anchor with its name comes before it; put text that starts with * in quotes',
      );
    }
    const { converted } = anchored;
    if (converted === null) {
      return this.#refused(node, 'an alias is inside the value that it names');
    }
    this.#targets.set(node, anchored.node);
    this.#aliasedValues += converted.size;
    if (this.#aliasedValues > MAX_ALIASED_VALUES) {
      const limit = `aliases may add ${MAX_ALIASED_VALUES} values`;
      return this.#refused(node, `this alias makes the file too large: ${limit}`);
    }
    return converted;
  }

  #refused(node: unknown, message: string): Converted {
    this.#isWhole = false;
    this.#refuse(node, message);
    return { value: null, size: 1 };
  }
}
