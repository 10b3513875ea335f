import type { Check } from '../../model/check/check.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { scrubResult } from '../../scrub/result-fields.ts';
import type { Evidence } from '../evidence/evidence-budget.ts';
import { saveFailedBody } from './artifacts/failed-body.ts';
import { saveEvidence } from './artifacts/save-evidence.ts';
import type { Attempt } from './attempt.ts';
import { type ResultContext, type RunName, resultIdIn, toCheckResult } from './check-result.ts';
import { concludeLog } from './conclude-log.ts';
import type { RunnerParts } from './run.ts';

/** The attempt's complete result, scrubbed of secrets. */
export async function buildResult(
  check: Check,
  attempt: Attempt,
  found: Evidence | null,
  name: RunName & Pick<ResultContext, 'retriesMade' | 'resultType' | 'isCancelled'>,
  parts: RunnerParts,
): Promise<CheckResult> {
  const resultId = resultIdIn(name, name.retriesMade);
  const owner = { checkId: check.id, resultId };
  const { longBody } = attempt;
  if (longBody !== null && longBody.bytes.length < longBody.totalBytes && hasFailed(attempt)) {
    parts.onBodyWithoutRoom('detail');
  }
  const { artifacts, log, secrets } = parts;
  // A new one each time: AgentSecrets may have more secrets by now.
  const scrubber = () => secrets.scrubberWith(attempt.secrets);
  const bodyAssets = await saveFailedBody(attempt, owner, { artifacts, log, scrubber });
  attempt.forget();
  const evidence = await saveEvidence(found, owner, attempt, { artifacts, log, scrubber });
  const context = { ...name, resultId, jobAssets: [...bodyAssets, ...evidence.assets], evidence };
  const { verdict, endpoint, jobLog } = attempt;
  if (verdict.hasFailures || verdict.hasErrors || verdict.isDegraded) {
    concludeLog(toCheckResult(check, attempt, context), check, endpoint, jobLog);
  }
  return scrubResult(toCheckResult(check, attempt, context), await scrubber());
}

export function hasFailed({ verdict }: Attempt): boolean {
  return verdict.hasFailures || verdict.hasErrors;
}
