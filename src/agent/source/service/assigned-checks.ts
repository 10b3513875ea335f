import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { RUNNABLE_CHECK_TYPES } from '../../../model/enums.ts';
import type { RotationRule } from '../../../model/schedule/rotation.ts';
import {
  type Assignment,
  type AssignmentMessage,
  type Read,
  type Refusal,
  readAssignment,
} from '../../../wire/v1/assignment.ts';
import { MAX_REFUSALS } from '../../../wire/v1/limits.ts';
import type { PollResponse } from '../../../wire/v1/poll.ts';
import type { CheckSet } from '../check-source.ts';
import { SimilarCheckParser } from '../common/similar-checks.ts';
import type { SavedAssignments, SavedSettings } from './assignment-store.ts';

/** Maximum number of checks of an agent. Others are rejected and reported to the service. */
export const MAX_CHECKS = 100_000;
/**
 * Maximum size of the checks of an agent as JSON: 100,000 checks of the usual size have 80 MB.
 * Others are rejected and reported.
 */
export const MAX_CHECKS_MIB = 256;
/**
 * Yields to the event loop after this many: checks run meanwhile, and their times must be right.
 */
const CHECKS_PER_YIELD = 100;
const MAX_PROBLEM_CHARS = 600;
const TOO_LARGE = `this agent accepts at most ${MAX_CHECKS_MIB} MiB of checks: give its location fewer or shorter ones, or more agents`;
const NO_TAGS: readonly string[] = [];

/** The settings before the first answer of the service. */
const NO_SETTINGS: SavedSettings = {
  clientCertificates: [],
  pauses: [],
  variables: [],
  unreadableVariables: [],
  proxyUrl: null,
};

/** The problems of a page. */
export interface ReadingNotes {
  /** Rejected checks that were not rejected before for the same reason. */
  readonly refused: readonly Refusal[];
  /** Fields that this build does not know; each only once. */
  readonly ignored: readonly string[];
  /** Bytes of JSON of the accepted checks; null if not measured. */
  readonly takenBytes: number | null;
}

/** The rest of the limit for the checks of a page, in bytes of JSON. */
interface ByteBudget {
  leftBytes: number;
}

interface Draft {
  readonly assignments: Map<string, Assignment>;
  readonly refusals: Map<string, string>;
  /** By check id, for new checks: the instant after which no agent was responsible for them. */
  readonly unanswered: Map<string, number>;
  /**
   * By check id, for checks that this agent lost meanwhile: the instant up to which other agents
   * are responsible for them.
   */
  readonly answered: Map<string, number>;
  changed: boolean;
  readonly full: boolean;
  /** Checks were rejected because of the byte limit. */
  isCut: boolean;
  readonly alike: SimilarCheckParser;
}

/**
 * The checks that the service assigned to this agent. The pages of an answer go into a draft, which
 * replaces the set when the last page is read: a partial answer is never applied.
 */
export class AssignedChecks {
  #assignments: ReadonlyMap<string, Assignment> = new Map();
  /** By check id, why the check cannot be run here. */
  #refusals: ReadonlyMap<string, string> = new Map();
  #unanswered: ReadonlyMap<string, number> = new Map();
  #answered: ReadonlyMap<string, number> = new Map();
  #location = '';
  #settings = NO_SETTINGS;
  #isCut = false;
  #hasMadeRoom = false;
  #draft: Draft | null = null;
  /** Fields that were reported already; bounded, as the service decides on their names. */
  readonly #ignored = new Set<string>();

  /** The set before the first answer: the agent's last assignments. */
  restore({ location, settings, assignments }: SavedAssignments): void {
    this.#location = location;
    this.#settings = settings;
    this.#assignments = new Map(assignments.map((one) => [one.check.id, one]));
  }

  /** Drops all checks. Returns whether the set changed. */
  clear(): boolean {
    const changed = this.#assignments.size > 0;
    this.#draft = null;
    this.#assignments = new Map();
    this.#refusals = new Map();
    this.#unanswered = new Map();
    this.#isCut = false;
    this.#answered = new Map();
    return changed;
  }

  get location(): string {
    return this.#location;
  }

  get assignments(): ReadonlyMap<string, Assignment> {
    return this.#assignments;
  }

  /** Whether the last answer brought checks that are new to this agent and were due before. */
  get hasNewChecks(): boolean {
    return this.#unanswered.size > 0;
  }

  /**
   * Whether the last answer changed a set from which checks were rejected because of the byte
   * limit.
   */
  get hasMadeRoom(): boolean {
    return this.#hasMadeRoom;
  }

  /** What to save for a start without the service. */
  get saved(): SavedAssignments {
    return {
      location: this.#location,
      settings: this.#settings,
      assignments: [...this.#assignments.values()],
    };
  }

  /** The rejections to report to the service, up to the limit of one poll. */
  get refusals(): Refusal[] {
    const first = [...this.#refusals].slice(0, MAX_REFUSALS);
    return first.map(([checkId, problem]) => ({ checkId, problem }));
  }

  /** The checks to run; `unanswered` and `answered` are from the last answer. */
  get set(): CheckSet {
    const checks = [];
    const rotations = new Map<string, RotationRule>();
    const groupTags = new Map<string, readonly string[]>();
    for (const assignment of this.#assignments.values()) {
      const { check } = assignment;
      checks.push(check);
      rotations.set(check.id, assignment.slots);
      if (assignment.groupTags.length > 0) groupTags.set(check.id, assignment.groupTags);
    }
    return {
      checks,
      ...this.#settings,
      rotations,
      location: this.#location,
      unanswered: this.#unanswered,
      answered: this.#answered,
      groupTags,
    };
  }

  /**
   * Adds a page of an answer to the draft; the first page starts a new one.
   *
   * @param limitBytes maximum JSON of its checks: others are rejected. null: no limit
   */
  async read(
    page: PollResponse,
    isFirst: boolean,
    limitBytes: number | null,
  ): Promise<ReadingNotes> {
    const draft = isFirst || this.#draft === null ? this.#begin(page.full) : this.#draft;
    this.#draft = draft;
    const refused: Refusal[] = [];
    const ignored: string[] = [];
    const budget = limitBytes === null ? null : { leftBytes: limitBytes };
    for (const checkId of page.remove) this.#remove(draft, checkId);
    for (const [index, message] of page.upsert.entries()) {
      const refusal = this.#upsert(draft, message, budget, ignored);
      if (refusal !== null && this.#refusals.get(refusal.checkId) !== refusal.problem) {
        refused.push(refusal);
      }
      if (index % CHECKS_PER_YIELD === CHECKS_PER_YIELD - 1) await yieldToEventLoop();
    }
    const takenBytes = budget === null ? null : (limitBytes ?? 0) - budget.leftBytes;
    return { refused, ignored, takenBytes };
  }

  /** Replaces the set by the complete draft. Returns whether the set changed. */
  finish({
    slug,
    settings: sent,
    variables,
    unreadableVariables,
    proxyUrl,
  }: PollResponse['location']): boolean {
    const draft = this.#draft;
    this.#draft = null;
    if (draft === null) return false;
    const settings: SavedSettings = {
      ...this.#settings,
      ...sent,
      ...(variables === null ? {} : { variables, unreadableVariables }),
      proxyUrl,
    };
    const changed =
      draft.changed || slug !== this.#location || !isDeepStrictEqual(settings, this.#settings);
    this.#settings = settings;
    this.#assignments = draft.assignments;
    this.#refusals = draft.refusals;
    this.#unanswered = draft.unanswered;
    this.#hasMadeRoom = draft.isCut && draft.changed && !draft.full;
    this.#isCut = draft.isCut;
    this.#answered = draft.answered;
    this.#location = slug;
    return changed;
  }

  /** Drops the draft. */
  discard(): void {
    this.#draft = null;
  }

  #begin(full: boolean): Draft {
    return {
      assignments: new Map(full ? [] : this.#assignments),
      refusals: new Map(full ? [] : this.#refusals),
      unanswered: new Map(),
      answered: new Map(),
      // A full answer is passed on even with the same checks: it was requested.
      changed: full,
      full,
      isCut: !full && this.#isCut,
      alike: new SimilarCheckParser(),
    };
  }

  #refuse(draft: Draft, checkId: string, text: string): Refusal {
    const problem = text.slice(0, MAX_PROBLEM_CHARS);
    // The previous version of the check must not continue.
    this.#remove(draft, checkId);
    if (draft.refusals.size < MAX_CHECKS) draft.refusals.set(checkId, problem);
    return { checkId, problem };
  }

  #remove(draft: Draft, checkId: string): void {
    draft.refusals.delete(checkId);
    draft.unanswered.delete(checkId);
    draft.answered.delete(checkId);
    if (draft.assignments.delete(checkId)) draft.changed = true;
  }

  #upsert(
    draft: Draft,
    message: AssignmentMessage,
    budget: ByteBudget | null,
    ignored: string[],
  ): Refusal | null {
    const { checkId } = message;
    const read = readAlike(message, draft.alike) ?? readAssignment(message);
    if (!read.ok) return this.#refuse(draft, checkId, read.refusal.problem);
    const problem = whyNotTaken(read.value, draft, budget);
    if (problem !== null) return this.#refuse(draft, checkId, problem);
    draft.assignments.set(checkId, read.value);
    const { answeredUntil } = read.value;
    const before = this.#assignments.get(checkId);
    if (answeredUntil !== null && before === undefined) {
      draft.unanswered.set(checkId, answeredUntil);
    } else if (answeredUntil !== null && answeredUntil !== before?.answeredUntil) {
      draft.answered.set(checkId, answeredUntil);
    }
    draft.refusals.delete(checkId);
    draft.changed = true;
    for (const field of read.ignored) {
      if (this.#ignored.has(field) || this.#ignored.size >= MAX_REFUSALS) continue;
      this.#ignored.add(field);
      ignored.push(field);
    }
    return null;
  }
}

/** Deducts the check's bytes from the budget, or returns the limit that it exceeds. */
function whyNotTaken(
  assignment: Assignment,
  draft: Draft,
  budget: ByteBudget | null,
): string | null {
  const { assignments } = draft;
  if (assignments.size >= MAX_CHECKS && !assignments.has(assignment.check.id)) {
    return `this agent accepts at most ${MAX_CHECKS} checks`;
  }
  if (budget === null) return null;
  // Size of the parsed assignment, which is nested no deeper than a check; the message may be.
  const bytes = Buffer.byteLength(JSON.stringify(assignment));
  if (bytes > budget.leftBytes) {
    draft.isCut = true;
    return TOO_LARGE;
  }
  budget.leftBytes -= bytes;
  return null;
}

/**
 * Reads an assignment through the parser that shares values among similar checks, which saves
 * memory. null if that is not possible.
 */
function readAlike(message: AssignmentMessage, alike: SimilarCheckParser): Read<Assignment> | null {
  const { checkId, check: body, slots, answeredUntil } = message;
  if (message.scripts !== null) return null;
  const type = RUNNABLE_CHECK_TYPES.find((each) => each === body.checkType);
  const check = type === undefined ? null : alike.parse(checkId, body, type);
  if (check === null) return null;
  const groupTags = message.groupTags.length === 0 ? NO_TAGS : message.groupTags;
  return { ok: true, value: { check, slots, answeredUntil, groupTags }, ignored: [] };
}
