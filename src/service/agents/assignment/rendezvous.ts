import {
  type AssignableAgent,
  type AssignableCheck,
  type Capable,
  capableOf,
  type UnassignedReason,
} from './capable.ts';
import { drawOf, hashOf, type TextHash } from './hash.ts';

export interface Assignments {
  /** The agent's id for the check's. */
  readonly owners: ReadonlyMap<string, string>;
  readonly unassigned: ReadonlyMap<string, UnassignedReason>;
}

interface Candidate {
  readonly id: string;
  readonly hash: TextHash;
  readonly weight: number;
}

/**
 * Gives each check of a location to one of its live agents: by weighted rendezvous hashing, each
 * agent draws a number for each check, which its concurrency raises, and the highest takes it. So
 * an agent that joins takes its share evenly from all, one that leaves gives its own to all, and no
 * other check moves. The same for the same checks and agents, in whatever order they come.
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

/** There are few kinds of checks and many checks, so what a kind needs is looked up once. */
function candidatesAmong(
  agents: readonly AssignableAgent[],
): (check: AssignableCheck) => Candidates {
  const byKind = new Map<string, Candidates>();
  return ({ checkType, ipFamily }) => {
    const kind = `${checkType} ${ipFamily}`;
    const known = byKind.get(kind);
    if (known !== undefined) return known;
    const capable = capableOf({ checkType, ipFamily }, agents);
    const candidates = { candidates: capable.agents.map(candidateOf), reason: capable.reason };
    byKind.set(kind, candidates);
    return candidates;
  };
}

function candidateOf({ id, concurrency }: AssignableAgent): Candidate {
  return { id, hash: hashOf(id), weight: Math.max(1, concurrency) };
}

/**
 * The candidate with the highest weight / −ln(draw). With a draw even over (0, 1) the chance of
 * each is its share of the weights, and adding or removing one changes no other's number.
 */
function winnerOf(checkId: string, candidates: readonly Candidate[]): string {
  const checkHash = hashOf(checkId);
  let winner = '';
  let highest = Number.NEGATIVE_INFINITY;
  for (const { id, hash, weight } of candidates) {
    const score = weight / -Math.log(drawOf(checkHash, hash));
    // Two that draw alike are told apart by their ids, so that their order does not matter.
    if (score > highest || (score === highest && id < winner)) {
      winner = id;
      highest = score;
    }
  }
  return winner;
}
