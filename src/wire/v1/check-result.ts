import { z } from 'zod';
import { RUNNABLE_CHECK_TYPES } from '../../model/enums.ts';
import { resultIdOf } from '../../model/ids.ts';
import type { CheckResult } from '../../model/result/result.ts';
import type { Received } from './details/common-detail.ts';
import { dnsDetail } from './details/dns-detail.ts';
import { httpDetail } from './details/http-detail.ts';
import { icmpDetail } from './details/icmp-detail.ts';
import { tcpDetail } from './details/tcp-detail.ts';
import { duration } from './durations.ts';
import { boundedList, id, instant, isoTime, locationName, text } from './fields.ts';

/**
 * The result of one attempt (src/model/README.md, "Results") from an agent that the service does
 * not trust: texts and lists are bounded, the id must be the one computed from the run, and the
 * database can store every text.
 *
 * Unknown fields, which a newer agent may send, are left out at any depth. Unknown error codes stay.
 */
export const checkResultSchema = z
  .object({
    resultType: z
      .enum(['FINAL', 'ATTEMPT'])
      .describe('FINAL for the last attempt of a run, ATTEMPT for those before it.'),
    id: id.describe('The id of the result.'),
    name: text(1024).describe('The name of the check.'),
    checkId: id.describe('The id of the check.'),
    checkType: z.enum(RUNNABLE_CHECK_TYPES).describe('The type of the check.'),
    hasFailures: z
      .boolean()
      .describe('Whether the attempt failed: by an error, an assertion, or a limit.'),
    hasErrors: z
      .boolean()
      .describe(
        'Whether the agent itself had a fault; the result then says nothing about the target.',
      ),
    isDegraded: z
      .boolean()
      .describe('Whether it passed, but over the threshold for degraded checks.'),
    isCancelled: z
      .boolean()
      .describe('Whether a user cancelled the run before it was complete: it has no verdict.'),
    overMaxResponseTime: z
      .boolean()
      .describe('Whether the response time is over `maxResponseTime`; never for ICMP.'),
    runLocation: locationName.describe('The location that made the run; `local` for a file.'),
    startedAt: isoTime.describe('When the attempt began.'),
    stoppedAt: isoTime.describe('When the attempt ended.'),
    created_at: isoTime.describe('When the agent wrote the result.'),
    responseTime: duration.describe(
      'The time of the target in milliseconds, without set-up in the agent.',
    ),
    apiCheckResult: httpDetail.nullable(),
    tcpCheckResult: tcpDetail.nullable().describe(detailText('TCP')),
    dnsCheckResult: dnsDetail.nullable().describe(detailText('DNS')),
    icmpCheckResult: icmpDetail.nullable().describe(detailText('ICMP')),
    browserCheckResult: z.null().describe('Always null: no BROWSER or PLAYWRIGHT check runs here.'),
    multiStepCheckResult: z.null().describe('Always null: no MULTI_STEP check runs here.'),
    agenticCheckResult: z.null(),
    checkRunId: instant.describe('The slot of the run in milliseconds since 1970.'),
    attempts: z
      .int()
      .min(0)
      .max(10)
      .describe('FINAL: the retries that were made. ATTEMPT: the attempts before this one.'),
    sequenceId: id.describe('The id of the run, which all its attempts have.'),
    errorGroupIds: boundedList(id, 100).describe(
      'The error groups of the failure, set by the service; empty without one.',
    ),
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
    // Otherwise an agent could overwrite a result of another run.
    if (result.id !== resultIdOf(result.sequenceId, result.attempts + 1)) {
      const message = 'must be the id of its sequenceId and attempts';
      context.addIssue({ code: 'custom', path: ['id'], message });
    }
  });

function detailText(type: string): string {
  return `The details of a ${type} check; null for other types.`;
}

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

// Does not compile if the fields of the schema and of the model differ in name or type.
type Plain<T> = T extends object ? { readonly [Key in keyof T]: Plain<T[Key]> } : T;
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never;
true satisfies Same<Plain<z.output<typeof checkResultSchema>>, Plain<ReceivedResult>>;
