import { z } from 'zod';
import { type Check, checkBodySchema } from '../../model/check/check.ts';
import { checkScriptsSchema } from '../../model/check/scripts.ts';
import type { RotationRule } from '../../model/schedule/rotation.ts';
import { boundedList, id, instant, text } from './fields.ts';
import { rotationRuleSchema } from './slots.ts';
import { parseTolerantly, problemOf } from './tolerant-parse.ts';

const MAX_RETRIES = 10;
const MAX_TAGS = 100;
const MAX_TAG_CHARS = 255;

/** Any object. Parsing each key would block the event loop: thousands come at once. */
export const checkBody = z.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);

/**
 * The scripts of an API check (`CheckScripts`), in place of its script fields; null if there are none.
 * Parsed with the check: scripts that this agent is too old for must not cost it the other checks.
 */
export const sentScripts = z.unknown().default(null);

const scriptsOfCheck = z.object({ scripts: checkScriptsSchema.nullable() });

/**
 * An assignment before its check is parsed: one check that this agent is too old for must not cost
 * it the others. `check` is the API's own body.
 */
export const assignmentEnvelope = z.object({
  checkId: id,
  slots: rotationRuleSchema,
  check: checkBody,
  /**
   * Epoch milliseconds up to which another agent reports the slots, or of the first assignment if
   * there was no other agent; null if that is unknown. The agent reports the slots after it, past
   * ones as missed. An agent that ran the check before ignores it.
   */
  answeredUntil: instant.nullable().default(null),
  /** Tags of the check's group; pauses apply by them, too. */
  groupTags: boundedList(text(MAX_TAG_CHARS), MAX_TAGS).default([]),
  scripts: sentScripts,
});
export type AssignmentMessage = z.infer<typeof assignmentEnvelope>;

export const ONE_OFF_REASONS = ['requested', 'retry'] as const;

/** A check to run once, beside its slots (src/service/README.md, "Runs on request"). */
export const oneOffEnvelope = z.object({
  runId: id,
  checkId: id,
  check: checkBody,
  scripts: sentScripts,
  /** `requested` through the API; `retry` of a run in another location. */
  reason: z.enum(ONE_OFF_REASONS),
  /** Epoch milliseconds. Names the run (`checkRunId`); not the time at which it starts. */
  slot: instant,
  sequenceId: id,
  /** Epoch milliseconds of the service's clock; null for at once. */
  notBefore: instant.nullable(),
  /** Epoch milliseconds of the service's clock. From then on it is withdrawn: do not start it. */
  notAfter: instant,
  /** Retries made before it; 0 for a first attempt. */
  retriesMade: z.int().min(0).max(MAX_RETRIES),
  /**
   * Epoch milliseconds of the start of the run's first attempt, from which maxDurationSeconds
   * counts; null for a first attempt.
   */
  firstStartedAt: instant.nullable(),
});
export type OneOffMessage = z.infer<typeof oneOffEnvelope>;

/** A check of this location, with the slots that it runs here. */
export interface Assignment {
  readonly check: Check;
  readonly slots: RotationRule;
  /** Epoch milliseconds; see `assignmentEnvelope`. */
  readonly answeredUntil: number | null;
  readonly groupTags: readonly string[];
}
export interface OneOff extends Omit<OneOffMessage, 'check' | 'checkId' | 'scripts'> {
  readonly check: Check;
}

/** Why an assignment or a one-off cannot be run; sent to the service with the next poll. */
export interface Refusal {
  readonly checkId: string;
  readonly problem: string;
}
export type Read<T> =
  | { readonly ok: true; readonly value: T; readonly ignored: readonly string[] }
  | { readonly ok: false; readonly refusal: Refusal };

export function assignmentMessageOf({
  check: { id: checkId, scripts, ...check },
  slots,
  answeredUntil,
  groupTags,
}: Assignment) {
  return {
    checkId,
    slots,
    check,
    answeredUntil,
    groupTags: [...groupTags],
    scripts: scripts ?? null,
  } satisfies AssignmentMessage;
}

export function oneOffMessageOf({ check: { id: checkId, scripts, ...check }, ...rest }: OneOff) {
  return { ...rest, checkId, check, scripts: scripts ?? null } satisfies OneOffMessage;
}

/** Leaves out the check's fields that a newer service added, and names them in `ignored`. */
export function readAssignment(message: AssignmentMessage): Read<Assignment> {
  const read = readCheck(message);
  if (!read.ok) return read;
  const { slots, answeredUntil, groupTags } = message;
  return { ...read, value: { check: read.value, slots, answeredUntil, groupTags } };
}

export function readOneOff(message: OneOffMessage): Read<OneOff> {
  const read = readCheck(message);
  if (!read.ok) return read;
  const { checkId: _, scripts: __, ...rest } = message;
  return { ...read, value: { ...rest, check: read.value } };
}

function readCheck({
  checkId,
  check,
  scripts,
}: Pick<AssignmentMessage, 'checkId' | 'check' | 'scripts'>): Read<Check> {
  const parsed = parseTolerantly(checkBodySchema, check);
  if (!parsed.ok) return { ok: false, refusal: { checkId, problem: parsed.problem } };
  const read = scriptsOfCheck.safeParse({ scripts });
  if (!read.success) return { ok: false, refusal: { checkId, problem: problemOf(read.error) } };
  const sent = read.data.scripts === null ? {} : { scripts: read.data.scripts };
  return { ok: true, value: { ...parsed.value, id: checkId, ...sent }, ignored: parsed.ignored };
}
