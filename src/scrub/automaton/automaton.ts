import { Prefilter } from './prefilter.ts';

/** In `next`: no child directly behind the node. */
export const NO_NEXT = 256;
/** In `next`: further children are in the table of branches. */
export const HAS_BRANCHES = 512;
export const ROOT = 0;

/** Long secrets are also masked in parts: see `outputs`. */
export const PART_BYTES = 8192;

/**
 * An automaton that finds all patterns and reads each byte once (Aho and Corasick 1975). Its states
 * are the nodes of the tree of all patterns. The nodes of a pattern are stored consecutively:
 * nearly all nodes have only the next one as a child, and take 14 bytes.
 */
export class Automaton {
  /** The byte that leads to the next node, or NO_NEXT; plus HAS_BRANCHES. */
  readonly next: Uint16Array;
  /** The node to continue with if no child fits: the longest suffix that begins a pattern. */
  readonly fails: Int32Array;
  /** The number of bytes that lead to the node. */
  readonly depths: Int32Array;
  /**
   * The length of the longest pattern that ends at the node; 0 if none does. Each prefix of a long
   * pattern in multiples of PART_BYTES counts as a pattern, which bounds the undecided bytes.
   */
  readonly outputs: Int32Array;
  readonly roots = new Int32Array(256);
  readonly branches: Branches;
  readonly prefilter: Prefilter;

  constructor(nodes: number, patterns: number) {
    this.next = new Uint16Array(nodes).fill(NO_NEXT);
    this.fails = new Int32Array(nodes);
    this.depths = new Int32Array(nodes);
    this.outputs = new Int32Array(nodes);
    this.branches = new Branches(patterns);
    this.prefilter = new Prefilter(patterns);
  }

  /** The child for a byte; -1 if there is none. */
  childOf(node: number, byte: number): number {
    if (node === ROOT) return (this.roots[byte] ?? 0) === 0 ? -1 : (this.roots[byte] ?? 0);
    const next = this.next[node] ?? NO_NEXT;
    if ((next & 511) === byte) return node + 1;
    return next >= HAS_BRANCHES ? this.branches.get(node, byte) : -1;
  }

  /** The state after one more byte. */
  step(state: number, byte: number): number {
    let node = state;
    while (node !== ROOT) {
      const next = this.next[node] ?? NO_NEXT;
      if ((next & 511) === byte) return node + 1;
      if (next >= HAS_BRANCHES) {
        const child = this.branches.get(node, byte);
        if (child >= 0) return child;
      }
      node = this.fails[node] ?? ROOT;
    }
    return this.roots[byte] ?? ROOT;
  }
}

/** Children that are not stored behind their parents: at most one per pattern. */
class Branches {
  readonly #nodes: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #children: Int32Array;
  readonly #shift: number;

  constructor(count: number) {
    const bits = Math.max(2, 33 - Math.clz32(count));
    this.#nodes = new Int32Array(2 ** bits).fill(-1);
    this.#bytes = new Uint8Array(2 ** bits);
    this.#children = new Int32Array(2 ** bits);
    this.#shift = 32 - bits;
  }

  get(node: number, byte: number): number {
    const at = this.#find(node, byte);
    return this.#nodes[at] === -1 ? -1 : (this.#children[at] ?? -1);
  }

  set(node: number, byte: number, child: number): void {
    const at = this.#find(node, byte);
    this.#nodes[at] = node;
    this.#bytes[at] = byte;
    this.#children[at] = child;
  }

  #find(node: number, byte: number): number {
    const mask = this.#nodes.length - 1;
    let at = Math.imul(Math.imul(node, 0x01000193) ^ (byte + 1), 0x9e3779b1) >>> this.#shift;
    while (this.#nodes[at] !== -1 && !(this.#nodes[at] === node && this.#bytes[at] === byte)) {
      at = (at + 1) & mask;
    }
    return at;
  }
}

/** An automaton without patterns, for searches that are not in use. */
export const NO_AUTOMATON = new Automaton(1, 1);
