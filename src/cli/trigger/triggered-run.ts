import { z } from 'zod';
import { RUN_RESULTS, type RunResult } from '../../model/result/run-result.ts';
import type { ApiClient } from '../service-api/api-client.ts';
import { readAs } from '../service-api/read-responses.ts';

/** The outcome of a run on request. Without `--wait` it is `queued`, or `refused` by the service. */
export type RunEnding = RunResult | 'queued' | 'refused' | 'expired' | 'skipped';

const explanationSchema = z.looseObject({
  result: z.enum(RUN_RESULTS),
  reasons: z.array(z.string()),
  errorCode: z.string().nullable(),
  advice: z.string().nullable(),
  attempts: z.array(z.looseObject({ responseTime: z.number(), response: z.string().nullable() })),
});
/** Why a run ended as it did, as the API has it (src/service/README.md, "Check results"). */
type RunExplanation = z.output<typeof explanationSchema>;

/** A run of one check in one location. */
export interface TriggeredRun {
  readonly checkId: string;
  /** The slug; null if it is not known or the check is not run. */
  readonly location: string | null;
  /** null if the check is not run. */
  readonly runId: string | null;
  readonly ending: RunEnding;
  /** Explains the result; null without a result. */
  readonly explanation: RunExplanation | null;
  /** Why there is no result; null if there is one. */
  readonly note: string | null;
}

/** Whether the check did not pass or was not run. */
export function isNotPassed({ ending }: TriggeredRun): boolean {
  return !['passed', 'degraded', 'queued', 'skipped'].includes(ending);
}

/**
 * The run with its result; without one if the service no longer has it.
 *
 * @throws VedetteError as ApiClient.find
 */
export async function withResult(
  client: Pick<ApiClient, 'find'>,
  run: Pick<TriggeredRun, 'checkId' | 'location' | 'runId'>,
  resultId: string,
  signal: AbortSignal,
): Promise<TriggeredRun> {
  const [check, result] = [run.checkId, resultId].map(encodeURIComponent);
  const json = await client.find(`/v1/check-results/${check}/${result}/explanation`, signal);
  if (json === null) return withoutResult(run, 'expired', GONE);
  const explanation = readAs(explanationSchema, json, 'explanation of a result');
  return { ...run, ending: explanation.result, explanation, note: null };
}

/** A run that ended without a result, or whose result is not waited for. */
export function withoutResult(
  { checkId, location, runId }: Pick<TriggeredRun, 'checkId' | 'location' | 'runId'>,
  ending: RunEnding,
  note: string | null = null,
): TriggeredRun {
  return { checkId, location, runId, ending, explanation: null, note };
}

export const EXPIRED = 'no agent of the location made the run in time';
/** The run of a deleted location, or the result of a deleted check. */
export const GONE = 'its location or its check was deleted';
