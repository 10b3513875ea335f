import { isMaskable } from '../maskable.ts';
import { patternsOf } from '../secret-patterns.ts';
import { Automaton, HAS_BRANCHES, NO_NEXT, PART_BYTES, ROOT } from './automaton.ts';

/** Nodes at a time: less than a millisecond. */
const SLICE = 8192;

/**
 * Makes the automaton of secrets in slices of about a millisecond: between two of them it yields. In
 * all, it takes time and memory in proportion to the secrets.
 *
 * @returns null where none of them is worth it
 */
export function* buildAutomaton(secrets: readonly string[]): Generator<void, Automaton | null> {
  const patterns: Uint8Array[] = [];
  let bytes = 0;
  let sliceBytes = 0;
  for (const secret of new Set(secrets)) {
    if (!isMaskable(secret)) continue;
    for (const pattern of patternsOf(secret)) {
      patterns.push(pattern);
      bytes += pattern.length;
    }
    sliceBytes += secret.length;
    if (sliceBytes < SLICE * 4) continue;
    sliceBytes = 0;
    yield;
  }
  if (patterns.length === 0) return null;
  const automaton = new Automaton(bytes + 1, patterns.length);
  const nodes = yield* insertAll(automaton, patterns);
  yield* link(automaton, nodes);
  return automaton;
}

function* insertAll(
  automaton: Automaton,
  patterns: readonly Uint8Array[],
): Generator<void, number> {
  const { next, depths, outputs, roots, branches } = automaton;
  let nodes = 1;
  let slice = 0;
  for (const pattern of patterns) {
    automaton.prefilter.add(pattern);
    let node = ROOT;
    for (let at = 0; at < pattern.length; at += 1) {
      const byte = pattern[at] ?? 0;
      let child = automaton.childOf(node, byte);
      if (child < 0) {
        child = nodes;
        nodes += 1;
        depths[child] = at + 1;
        if (node === ROOT) roots[byte] = child;
        else if (child === node + 1 && next[node] === NO_NEXT) next[node] = byte;
        else {
          next[node] = (next[node] ?? 0) | HAS_BRANCHES;
          branches.set(node, byte, child);
        }
      }
      node = child;
      if ((at + 1) % PART_BYTES === 0) {
        outputs[node] = at + 1;
        yield;
      }
    }
    outputs[node] = pattern.length;
    slice += pattern.length;
    if (slice < SLICE) continue;
    slice = 0;
    yield;
  }
  return nodes;
}

/** Sets where to go on from each node, those with short ways to them first. */
function* link(automaton: Automaton, nodes: number): Generator<void, void> {
  const { next, fails, outputs } = automaton;
  const queue = new Int32Array(nodes);
  let queued = 1;
  const take = (node: number, byte: number, child: number): void => {
    const fail = node === ROOT ? ROOT : automaton.step(fails[node] ?? ROOT, byte);
    fails[child] = fail;
    if (outputs[child] === 0) outputs[child] = outputs[fail] ?? 0;
    queue[queued] = child;
    queued += 1;
  };
  for (let at = 0; at < queued; at += 1) {
    const node = queue[at] ?? ROOT;
    const own = next[node] ?? NO_NEXT;
    if (node !== ROOT && (own & 511) < NO_NEXT) take(node, own & 511, node + 1);
    if (node === ROOT || own >= HAS_BRANCHES) {
      for (let byte = 0; byte < 256; byte += 1) {
        if (node !== ROOT && byte === (own & 511)) continue;
        const child = automaton.childOf(node, byte);
        if (child >= 0) take(node, byte, child);
      }
      if (at % 16 === 0) yield;
    }
    if (at % SLICE === SLICE - 1) yield;
  }
  yield* shorten(automaton, queue);
}

/**
 * Where the byte that did not fit is also the only one that fits after the next end, that end is
 * left out: patterns that repeat themselves would take a step for each repetition (Knuth, Morris
 * and Pratt 1977).
 */
function* shorten({ next, fails }: Automaton, queue: Int32Array): Generator<void, void> {
  for (let at = 1; at < queue.length; at += 1) {
    const node = queue[at] ?? ROOT;
    const fail = fails[node] ?? ROOT;
    const own = next[node] ?? NO_NEXT;
    if (fail !== ROOT && own < NO_NEXT && next[fail] === own) fails[node] = fails[fail] ?? ROOT;
    if (at % SLICE === SLICE - 1) yield;
  }
}
