import { wholeNumber } from '../../../runtime/config/parsers.ts';
import { readVariable } from '../../../runtime/config/read-variable.ts';
import type { Environment, Variable } from '../../../runtime/config/variable.ts';

/** Limits set by the operator, because each request may send a mail to an unrelated person. */
export interface SubscribeLimits {
  /** Requests to all pages of an account in a day. */
  readonly perAccountDay: number;
  /** Requests to all pages of the service in an hour. */
  readonly perHour: number;
}

/** Four times the hourly limit of one page. */
export const DEFAULT_SUBSCRIBE_LIMITS: SubscribeLimits = { perAccountDay: 2_000, perHour: 2_000 };

const MAX_LIMIT = 1_000_000;
const ALLOWED = `a whole number from 1 to ${MAX_LIMIT}`;

export const SUBSCRIBE_VARIABLES = {
  subscribeLimitPerAccountDay: {
    name: 'SUBSCRIBE_LIMIT_PER_ACCOUNT_DAY',
    default: String(DEFAULT_SUBSCRIBE_LIMITS.perAccountDay),
    whenUnset: DEFAULT_SUBSCRIBE_LIMITS.perAccountDay,
    meaning: 'Requests a day to subscribe to the status pages of an account.',
    allowed: ALLOWED,
    secret: false,
    parse: wholeNumber(1, MAX_LIMIT),
  } satisfies Variable<number>,
  subscribeLimitPerHour: {
    name: 'SUBSCRIBE_LIMIT_PER_HOUR',
    default: String(DEFAULT_SUBSCRIBE_LIMITS.perHour),
    whenUnset: DEFAULT_SUBSCRIBE_LIMITS.perHour,
    meaning: 'Requests an hour to subscribe to the status pages of all accounts together.',
    allowed: ALLOWED,
    secret: false,
    parse: wholeNumber(1, MAX_LIMIT),
  } satisfies Variable<number>,
} as const;

export function readSubscribeLimits(env: Environment): SubscribeLimits {
  return {
    perAccountDay: readVariable(env, SUBSCRIBE_VARIABLES.subscribeLimitPerAccountDay),
    perHour: readVariable(env, SUBSCRIBE_VARIABLES.subscribeLimitPerHour),
  };
}
