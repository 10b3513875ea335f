import { z } from 'zod';
import { RUNNABLE_CHECK_TYPES } from '../../model/enums.ts';
import { resultIdOf } from '../../model/ids.ts';
import type { CheckResult } from '../../model/result/result.ts';
import type { Received } from './common-detail.ts';
import { duration } from './durations.ts';
import { boundedList, id, instant, isoTime, locationName, text } from './fields.ts';
import { dnsDetail, httpDetail, icmpDetail, tcpDetail } from './result-details.ts';

/**
 * One attempt's result (src/model/README.md, "Results") from an agent that the service does not
 * trust: texts and lists are bounded, the id is computed from the run, and the database can store
 * all of it.
 *
 * Unknown fields, which a newer agent may send, are left out at any depth. Unknown error codes stay.
 */
export const checkResultSchema = z
  .object({
    resultType: z.enum(['FINAL', 'ATTEMPT']),
    id,
    name: text(1024),
    checkId: id,
    checkType: z.enum(RUNNABLE_CHECK_TYPES),
    hasFailures: z.boolean(),
    hasErrors: z.boolean(),
    isDegraded: z.boolean(),
    isCancelled: z.boolean(),
    overMaxResponseTime: z.boolean(),
    runLocation: locationName,
    startedAt: isoTime,
    stoppedAt: isoTime,
    created_at: isoTime,
    responseTime: duration,
    apiCheckResult: httpDetail.nullable(),
    tcpCheckResult: tcpDetail.nullable(),
    dnsCheckResult: dnsDetail.nullable(),
    icmpCheckResult: icmpDetail.nullable(),
    browserCheckResult: z.null(),
    multiStepCheckResult: z.null(),
    agenticCheckResult: z.null(),
    checkRunId: instant,
    attempts: z.int().min(0).max(10),
    sequenceId: id,
    errorGroupIds: boundedList(id, 100),
  })
  .superRefine((result, context) => {
    const own = DETAIL_FIELDS[result.checkType];
    for (const field of new Set(Object.values(DETAIL_FIELDS))) {
      if (field !== own && result[field] !== null) {
        const message = `must be null in a result of type ${result.checkType}`;
        context.addIssue({ code: 'custom', path: [field], message });
      }
    }
    if (Date.parse(result.stoppedAt) < Date.parse(result.startedAt)) {
      const message = 'must not be before startedAt';
      context.addIssue({ code: 'custom', path: ['stoppedAt'], message });
    }
    // No agent can overwrite a result of another run.
    if (result.id !== resultIdOf(result.sequenceId, result.attempts + 1)) {
      const message = 'must be the id of its sequenceId and attempts';
      context.addIssue({ code: 'custom', path: ['id'], message });
    }
  });

/** The field with the details of each check type. */
export const DETAIL_FIELDS = {
  URL: 'apiCheckResult',
  API: 'apiCheckResult',
  TCP: 'tcpCheckResult',
  DNS: 'dnsCheckResult',
  ICMP: 'icmpCheckResult',
} as const;

/** The model's CheckResult, but with any error code: a newer agent may have more. */
export type ReceivedResult = Received<CheckResult>;

// A field of the model that the schema lacks, has too many or in another type does not compile.
type Plain<T> = T extends object ? { readonly [Key in keyof T]: Plain<T[Key]> } : T;
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never;
true satisfies Same<Plain<z.output<typeof checkResultSchema>>, Plain<ReceivedResult>>;
