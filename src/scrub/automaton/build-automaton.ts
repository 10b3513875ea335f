import { isMaskable } from '../maskable.ts';
import { Automaton, HAS_BRANCHES, NO_NEXT, PART_BYTES, ROOT } from './automaton.ts';

/** Nodes per slice: less than a millisecond. */
const SLICE = 8192;
/** Longer values are not misread in practice, and would cost more memory than they are worth. */
const MAX_MISREAD_CHARS = 8192;

const encoder = new TextEncoder();

/**
 * Builds the automaton of secrets in slices of about a millisecond, and yields between them. Takes
 * time and memory in proportion to the secrets.
 *
 * @returns null if no secret is maskable
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

/**
 * The byte strings of a secret: its UTF-8, with and without the white space at its ends (which HTTP
 * and forms remove). For characters beyond ASCII also Latin-1, and UTF-8 that was read as Latin-1,
 * as header values are.
 */
function patternsOf(secret: string): readonly Uint8Array[] {
  const trimmed = secret.trim();
  const values = trimmed !== secret && isMaskable(trimmed) ? [secret, trimmed] : [secret];
  return values.flatMap((value) => {
    const bytes = encoder.encode(value);
    if (bytes.length === value.length || value.length > MAX_MISREAD_CHARS) return [bytes];
    const misread = encoder.encode(Buffer.from(bytes).toString('latin1'));
    const latin1 = Buffer.from(value, 'latin1');
    const isLatin1 = latin1.toString('latin1') === value;
    return isLatin1 ? [bytes, misread, latin1] : [bytes, misread];
  });
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

/** Sets `fails` of each node, breadth first. */
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
 * Skips a fail node whose only byte is the one that did not fit: otherwise repetitive patterns
 * would take a step per repetition (Knuth, Morris and Pratt 1977).
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
