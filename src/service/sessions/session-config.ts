import { DAY_MS, HOUR_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import { wholeNumber } from '../../runtime/config/parsers.ts';
import { readVariable } from '../../runtime/config/read-variable.ts';
import type { Environment, Variable } from '../../runtime/config/variable.ts';

export interface SessionLimits {
  /** A session ends if it is not used for this time. */
  readonly idleMs: number;
  /** A session ends this long after the sign-in, however often it is used. */
  readonly maxMs: number;
}

const MAX_DAYS = 365;
const IDLE_HOURS = 72;
const SESSION_DAYS = 30;

export const DEFAULT_SESSION_LIMITS: SessionLimits = {
  idleMs: IDLE_HOURS * HOUR_MS,
  maxMs: SESSION_DAYS * DAY_MS,
};

export const SESSION_VARIABLES = {
  sessionIdleHours: {
    name: 'SESSION_IDLE_HOURS',
    default: String(IDLE_HOURS),
    whenUnset: IDLE_HOURS,
    meaning: 'How long a session lasts without a request.',
    allowed: `a whole number of hours from 1 to ${24 * MAX_DAYS}`,
    secret: false,
    parse: wholeNumber(1, 24 * MAX_DAYS),
  } satisfies Variable<number>,
  sessionMaxDays: {
    name: 'SESSION_MAX_DAYS',
    default: String(SESSION_DAYS),
    whenUnset: SESSION_DAYS,
    meaning: 'How long a session lasts after the sign-in, in any case.',
    allowed: `a whole number of days from 1 to ${MAX_DAYS}`,
    secret: false,
    parse: wholeNumber(1, MAX_DAYS),
  } satisfies Variable<number>,
} as const;

export function readSessionLimits(env: Environment): SessionLimits {
  return {
    idleMs: readVariable(env, SESSION_VARIABLES.sessionIdleHours) * HOUR_MS,
    maxMs: readVariable(env, SESSION_VARIABLES.sessionMaxDays) * DAY_MS,
  };
}

/** What decides whether a session has ended. Epoch milliseconds. */
export interface SessionEnds {
  readonly nowMs: number;
  /** Sessions that were not used since then have ended. */
  readonly idleSinceMs: number;
}

export function endsOf(clock: Pick<Clock, 'wallMs'>, limits: SessionLimits): SessionEnds {
  const nowMs = clock.wallMs();
  return { nowMs, idleSinceMs: nowMs - limits.idleMs };
}
