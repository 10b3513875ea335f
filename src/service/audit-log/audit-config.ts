import { wholeNumber } from '../../runtime/config/parsers.ts';
import type { Variable } from '../../runtime/config/variable.ts';

const MAX_DAYS = 3650;
export const DEFAULT_AUDIT_DAYS = 365;

export const AUDIT_VARIABLES = {
  auditRetentionDays: {
    name: 'AUDIT_RETENTION_DAYS',
    default: String(DEFAULT_AUDIT_DAYS),
    whenUnset: DEFAULT_AUDIT_DAYS,
    meaning: 'How long the audit log is kept.',
    allowed: `a whole number of days from 1 to ${MAX_DAYS}`,
    secret: false,
    parse: wholeNumber(1, MAX_DAYS),
  } satisfies Variable<number>,
} as const;
