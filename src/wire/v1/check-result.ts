import { z } from 'zod';
import { resultIdOf } from '../../model/ids.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { RUNNABLE_CHECK_TYPES } from '../../model/vocabulary.ts';
import { duration, id, instant, isoTime, listOf, locationName, text } from './fields.ts';
import { dnsDetail, httpDetail, icmpDetail, tcpDetail } from './result-details.ts';
import type { Received } from './result-parts.ts';

/**
 * One attempt's result (src/model/README.md, "Results") as a service takes it from an agent it does
 * not trust: every text and list bounded, no field of the wrong form, an id that is its own, and
 * nothing that the database cannot store.
 *
 * Fields that this build does not know, at any depth, are left out: a newer agent may send them,
 * and what nobody checked is not stored. Error codes that it does not know are kept.
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
    errorGroupIds: listOf(id, 100),
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
    // So no agent can write over a result of another run.
    if (result.id !== resultIdOf(result.sequenceId, result.attempts + 1)) {
      const message = 'must be the id of its sequenceId and attempts';
      context.addIssue({ code: 'custom', path: ['id'], message });
    }
  });

/** Which field has the details of which check type. */
export const DETAIL_FIELDS = {
  URL: 'apiCheckResult',
  API: 'apiCheckResult',
  TCP: 'tcpCheckResult',
  DNS: 'dnsCheckResult',
  ICMP: 'icmpCheckResult',
} as const;

/** The model's CheckResult, but for error codes, which a newer agent may have more of. */
export type ReceivedResult = Received<CheckResult>;

// A field of the model that the schema lacks, has too many or in another type does not compile.
type Plain<T> = T extends object ? { readonly [Key in keyof T]: Plain<T[Key]> } : T;
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never;
true satisfies Same<Plain<z.output<typeof checkResultSchema>>, Plain<ReceivedResult>>;
