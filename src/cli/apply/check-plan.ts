import type { Check } from '../../model/check/check.ts';
import type { Section } from '../../model/check-file/sections.ts';
import { changedFields, type FieldChange, fieldChanges } from './field-changes.ts';
import { managingFileOf, ownershipProblem } from './file-ownership.ts';
import { comparable, type KnownCheck } from './normal-form.ts';
import { creationProblem } from './reserved-ids.ts';
import type { NameProblems } from './resources/channel-names.ts';

/** One change of a check. */
export type ApplyStep =
  | {
      readonly kind: 'create';
      readonly check: Check;
      /** Whether the service decides which channels are notified: it subscribes a new check to all of them. */
      readonly leavesChannels: boolean;
    }
  | {
      readonly kind: 'update';
      readonly check: Check;
      readonly changes: readonly FieldChange[];
      /** The fields to send. */
      readonly body: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'delete'; readonly id: string; readonly checkType: string };

/** A resource that cannot be applied as the file defines it. */
export interface ApplyRefusal {
  readonly kind: 'check' | 'variable' | 'escalation' | Section;
  /** The key of a variable. */
  readonly id: string;
  /** One or more reasons and what to do. Each completes a sentence that begins with the id. */
  readonly reasons: readonly string[];
}

/** The changes of the checks of an account. */
export interface CheckPlan {
  /** In the order of the file, deletions last. */
  readonly steps: readonly ApplyStep[];
  readonly refusals: readonly ApplyRefusal[];
  readonly unchanged: number;
  /** Checks that --prune would delete. */
  readonly others: number;
}

/** The action for a check that only the account has. Plans do not mention ignored checks. */
export type UnlistedAction = 'keep' | 'ignore' | 'delete' | 'deactivate';

/** Whether the step only writes secret values again, which may be unchanged. */
export function isRewriteOnly(step: {
  readonly kind: ApplyStep['kind'];
  readonly changes?: readonly FieldChange[];
}): boolean {
  return (
    step.kind === 'update' && (step.changes ?? []).every(({ isWrittenAgain }) => isWrittenAgain)
  );
}

const NO_PROBLEMS: NameProblems = new Map();

/**
 * Plans the steps that make the account's checks match those of the file.
 *
 * @param checks the checks of the file, each with its locations for this service
 * @param fileName null for a file without a name, which owns all checks that belong to no named file
 */
export function planChanges(
  checks: readonly Check[],
  known: readonly KnownCheck[],
  {
    fileName,
    unlistedActionOf,
    problems = NO_PROBLEMS,
    withoutChannels = new Set(),
  }: {
    readonly fileName: string | null;
    readonly unlistedActionOf: (id: string) => UnlistedAction;
    readonly problems?: NameProblems;
    /** The checks with an empty list of channels in the file. Others without channels leave them to the service. */
    readonly withoutChannels?: ReadonlySet<string>;
  },
): CheckPlan {
  const byId = new Map(known.map((check) => [check.id, check]));
  const steps: ApplyStep[] = [];
  const refusals: ApplyRefusal[] = [];
  let unchanged = 0;
  for (const check of checks) {
    const before = byId.get(check.id);
    const problem = ownershipProblem(before?.check?.logicalId, fileName);
    const reasons = problems.get(check.id);
    const leavesChannels =
      check.alertChannelSubscriptions.length === 0 && !withoutChannels.has(check.id);
    if (reasons !== undefined) refusals.push({ kind: 'check', id: check.id, reasons });
    else if (before === undefined) {
      const reason = creationProblem(check.id);
      if (reason === null) steps.push({ kind: 'create', check, leavesChannels });
      else refusals.push({ kind: 'check', id: check.id, reasons: [reason] });
    } else if (problem !== null) {
      refusals.push({ kind: 'check', id: check.id, reasons: [problem] });
    } else if (before.checkType !== check.checkType) {
      const reason = `is ${before.checkType} in the service and ${check.checkType} in the file, and the type of a check never changes: give it another id, or delete it first`;
      refusals.push({ kind: 'check', id: check.id, reasons: [reason] });
    } else {
      const step = updateOf(before.check, check, leavesChannels);
      if (step === null) unchanged += 1;
      else steps.push(step);
    }
  }
  const ids = new Set(checks.map(({ id }) => id));
  // Heartbeats are planned as resources: ./resources/resource-plan.ts.
  const rest = known.filter(
    (one) =>
      !ids.has(one.id) &&
      one.checkType !== 'HEARTBEAT' &&
      managingFileOf(one.check?.logicalId) === fileName,
  );
  let others = 0;
  for (const other of rest) {
    const action = unlistedActionOf(other.id);
    const step = endOf(other, action);
    if (step !== null) steps.push(step);
    else if (action !== 'ignore') others += 1;
  }
  return { steps, refusals, unchanged, others };
}

function endOf({ id, checkType, check }: KnownCheck, fate: UnlistedAction): ApplyStep | null {
  if (fate === 'delete') return { kind: 'delete', id, checkType };
  if (fate !== 'deactivate' || check === null || !check.activated) return null;
  return updateOf(check, { ...check, activated: false }, true);
}

function updateOf(known: Check | null, check: Check, leavesChannels: boolean): ApplyStep | null {
  const [before, after] = comparable(known ?? check, check, leavesChannels);
  if (known === null) {
    const texts = { before: 'of another release', after: 'as in the file' };
    const changes = [{ path: 'all fields', ...texts, isWrittenAgain: false }];
    return { kind: 'update', check, changes, body: checkBody(after, leavesChannels) };
  }
  const names = changedFields(before, after);
  if (names.length === 0) return null;
  const fields = Object.entries(after).filter(([field]) => names.includes(field));
  return {
    kind: 'update',
    check,
    changes: fieldChanges(before, after),
    body: Object.fromEntries(fields),
  };
}

/** The body of a check: without its id, which is in the path, and without channels that the service decides. */
export function checkBody(
  check: Check,
  leavesChannels: boolean,
): Readonly<Record<string, unknown>> {
  const { id: _, alertChannelSubscriptions, ...body } = check;
  return leavesChannels ? body : { ...body, alertChannelSubscriptions };
}
