import {
  type AssignableAgent,
  type AssignableCheck,
  type Capable,
  capableAgents,
  type UnassignedReason,
} from './capable-agents.ts';

export interface Assignments {
  /** Ids of agents by the ids of their checks. */
  readonly owners: ReadonlyMap<string, string>;
  readonly unassigned: ReadonlyMap<string, UnassignedReason>;
}

interface Candidate {
  readonly id: string;
  readonly hash: TextHash;
  readonly weight: number;
}

/**
 * Assigns each check of a location to one of its live agents by weighted rendezvous hashing: each
 * agent has a score for each check, weighted by its concurrency, and the highest score wins. An agent
 * that joins takes its share evenly from all, one that leaves gives its own evenly to all, and no other
 * check moves. The result does not depend on the order of checks and agents.
 *
 * @param agents live ones with different ids; a concurrency under 1 counts as 1
 */
export function assign(
  checks: Iterable<AssignableCheck>,
  agents: readonly AssignableAgent[],
): Assignments {
  const owners = new Map<string, string>();
  const unassigned = new Map<string, UnassignedReason>();
  const candidatesOf = candidatesAmong(agents);
  for (const check of checks) {
    const { candidates, reason } = candidatesOf(check);
    if (reason !== null) unassigned.set(check.id, reason);
    else owners.set(check.id, winnerOf(check.id, candidates));
  }
  return { owners, unassigned };
}

type Candidates = { readonly candidates: readonly Candidate[]; readonly reason: Capable['reason'] };

/** Caches the candidates of each kind of check: there are few kinds and many checks. */
function candidatesAmong(
  agents: readonly AssignableAgent[],
): (check: AssignableCheck) => Candidates {
  const byKind = new Map<string, Candidates>();
  return ({ checkType, ipFamily, features }) => {
    const kind = [checkType, ipFamily, ...features].join(' ');
    const known = byKind.get(kind);
    if (known !== undefined) return known;
    const capable = capableAgents({ checkType, ipFamily, features }, agents);
    const candidates = { candidates: capable.agents.map(candidateOf), reason: capable.reason };
    byKind.set(kind, candidates);
    return candidates;
  };
}

function candidateOf({ id, concurrency }: AssignableAgent): Candidate {
  return { id, hash: hashOf(id), weight: Math.max(1, concurrency) };
}

/**
 * The candidate with the highest weight / −ln(draw). With draws uniform over (0, 1) the chance of each
 * is its share of the weights, and adding or removing one changes no other's score.
 */
function winnerOf(checkId: string, candidates: readonly Candidate[]): string {
  const checkHash = hashOf(checkId);
  let winner = '';
  let highest = Number.NEGATIVE_INFINITY;
  for (const { id, hash, weight } of candidates) {
    const score = weight / -Math.log(drawOf(checkHash, hash));
    // The id breaks ties: the order of candidates does not matter.
    if (score > highest || (score === highest && id < winner)) {
      winner = id;
      highest = score;
    }
  }
  return winner;
}

// Every replica must compute the same hashes, on any machine and Node version: integer arithmetic only.
// They spread well; they are not cryptographic.

/** 64 bits of a text. */
interface TextHash {
  readonly high: number;
  readonly low: number;
}

const HIGH_START = 0x9e3779b9;
const LOW_START = 0x243f6a88;
const HIGH_STEP = 0xcc9e2d51;
const LOW_STEP = 0x1b873593;
const TWO_TO_53 = 2 ** 53;

function hashOf(text: string): TextHash {
  let high = HIGH_START ^ text.length;
  let low = LOW_START;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, HIGH_STEP);
    high ^= high >>> 15;
    low = Math.imul(low ^ unit, LOW_STEP);
    low ^= low >>> 13;
  }
  return { high: finish(high), low: finish(low ^ high) };
}

/** A number in (0, 1) with 53 bits for a pair. Its order matters. */
function drawOf(first: TextHash, second: TextHash): number {
  const high = finish(first.high ^ Math.imul(second.high, HIGH_STEP));
  const low = finish(first.low + Math.imul(second.low ^ high, LOW_STEP));
  return ((high >>> 5) * 2 ** 26 + (low >>> 6) + 0.5) / TWO_TO_53;
}

/** A bijection in which every input bit affects every output bit. */
function finish(value: number): number {
  let mixed = value;
  mixed ^= mixed >>> 16;
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
