import type { Check } from '../../model/check/check.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import { buildScrubber } from '../../scrub/scrubber.ts';
import { checkResultSchema, type ReceivedResult } from '../../wire/v1/check-result.ts';
import { readRecord } from '../../wire/v1/read-record.ts';
import { isResultOfTrial, type TrialReport } from '../../wire/v1/trials.ts';
import type { CheckVariables } from '../checks/variables/check-variables.ts';
import type { Sql } from '../database/store.ts';
import type { AgentCaller } from '../private-locations/location-keys.ts';
import { presentExplanation } from '../results/runs/explanation-schema.ts';
import { explanationOf } from '../results/runs/runs.ts';
import type { SecretScrubbing } from '../secrets/secret-scrubbing.ts';
import { endTrial, lockHeldTrial, type ReportedTrial, type TrialEnd } from './claims.sql.ts';
import { INVALID_RESULT, missedMessage } from './reasons.ts';

export interface ReportParts {
  readonly checkVariables: Pick<CheckVariables, 'readableSecrets'>;
  readonly scrubbing: Pick<SecretScrubbing, 'withOwn' | 'scrubberOf'>;
}

/**
 * Ends a trial with what its agent reports. Ignores reports of other agents, and of an agent that has lost
 * its lease.
 *
 * @returns whether the report ended the trial
 */
export async function takeReport(
  tx: Sql,
  { accountId, locationId }: AgentCaller,
  report: TrialReport,
  { checkVariables, scrubbing }: ReportParts,
): Promise<boolean> {
  const { agentId, epoch, trialId: id } = report;
  const trial = await lockHeldTrial(tx, { accountId, locationId, agentId, epoch }, id);
  if (trial === null) return false;
  const key = { accountId, id };
  await endTrial(tx, key, await endOf(trial));
  return true;

  async function endOf(held: ReportedTrial): Promise<TrialEnd> {
    if (report.missed !== null) {
      const reason = report.missed;
      // The agent may quote the check, including its secrets.
      const problem = reason === 'refused' ? await scrubbed(report.problem ?? '', held) : null;
      return { state: 'missed', reason, message: missedMessage(reason, problem) };
    }
    const result = resultIn(report, held);
    if (result === null) return { state: 'missed', ...INVALID_RESULT };
    const masked = await scrubbing.withOwn(tx, accountId, result, ownSecrets(held));
    // Keeps error codes of a newer agent, as in stored results.
    const shown = masked as CheckResult;
    const check = { ...held.body, id } as unknown as Check;
    const explanation = explanationOf(shown, check, { attempts: [shown], lastPassing: null });
    return { state: 'finished', result: masked, explanation: presentExplanation(explanation) };
  }

  function ownSecrets({ sealedVariables }: ReportedTrial): readonly string[] {
    return sealedVariables === null ? [] : checkVariables.readableSecrets(key, sealedVariables);
  }

  async function scrubbed(text: string, held: ReportedTrial): Promise<string> {
    const own = await buildScrubber(ownSecrets(held), yieldToEventLoop);
    return (await scrubbing.scrubberOf(tx, accountId)).text(own.text(text));
  }
}

/** null if it is not the result of this trial. */
function resultIn(
  { result, trialId }: TrialReport,
  { slot, location, checkType }: ReportedTrial,
): ReceivedResult | null {
  const read = readRecord(checkResultSchema, result);
  if (read.kind === 'bad' || read.value.checkType !== checkType) return null;
  const isOwn = isResultOfTrial(read.value as CheckResult, {
    trialId,
    slot: slot.getTime(),
    location,
  });
  return isOwn ? read.value : null;
}
