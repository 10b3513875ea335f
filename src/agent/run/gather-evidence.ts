import type { Check } from '../../model/check/check.ts';
import type { RetryPlan } from '../../model/check/retry.ts';
import { hasScripts } from '../../model/check/scripts.ts';
import { messageOf } from '../../runtime/errors.ts';
import {
  type Evidence,
  type EvidenceAbout,
  type EvidenceBudget,
  isWorthEvidence,
} from '../evidence/evidence-budget.ts';
import { pinnedTo } from '../evidence/pinned-resolver.ts';
import type { Endpoint } from '../probes/endpoint.ts';
import type { ArtifactTaker } from './artifacts/failed-body.ts';
import { type Attempt, type AttemptOptions, makeAttempt } from './attempt.ts';
import { overFamilyOf } from './attempt-families.ts';
import type { AttemptParts } from './observe.ts';

export interface EvidenceParts {
  readonly evidence: EvidenceBudget | null;
  /** null: captures cannot be saved. */
  readonly artifacts: ArtifactTaker | null;
}

/** Whether a diagnostic pass is due: the target was not reached, or replied to too few echoes. */
export function wantsEvidence(
  attempt: Attempt,
  { evidence }: Pick<EvidenceParts, 'evidence'>,
): boolean {
  const { verdict, endpoint, unreached, failure } = attempt;
  const isDue = verdict.hasFailures && unreached && isWorthEvidence(failure?.code ?? null);
  return evidence !== null && endpoint !== null && isDue;
}

/** The run of the failed attempt. */
export interface FailedRun {
  readonly check: Check;
  readonly plan: RetryPlan;
  readonly signal: AbortSignal;
}

/**
 * Makes the diagnostic pass about a failed attempt (src/agent/README.md, "Evidence: traceroute and
 * packet capture") and notes it in the job log. Never rejects: the verdict is valid without
 * evidence, too.
 */
export async function gatherEvidence(
  attempt: Attempt,
  run: FailedRun,
  parts: EvidenceParts & AttemptParts,
): Promise<Evidence | null> {
  const { endpoint, jobLog } = attempt;
  if (parts.evidence === null || endpoint === null) return null;
  try {
    const repeat = repeatOf(attempt, endpoint, run, parts);
    const gathered = await parts.evidence.gather(
      { endpoint, repeat: repeat?.make ?? null },
      run.signal,
    );
    const exposed = hidesSecrets(parts) ? (repeat?.exposedVariable() ?? null) : null;
    const found =
      exposed === null || gathered.captured === null
        ? gathered
        : { ...gathered, captured: null, notes: [...gathered.notes, droppedText(exposed, run)] };
    for (const note of found.notes) jobLog.conclude('info', note);
    return found;
  } catch (fault) {
    parts.log.error({ err: fault }, `no evidence: ${messageOf(fault)}; please report this`);
    jobLog.conclude('warn', 'No trace and no capture: a fault of the agent itself');
    return null;
  }
}

/** Methods that change nothing at the target (RFC 9110 9.2.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

interface Repeat {
  readonly make: NonNullable<EvidenceAbout['repeat']>;
  /** The variable that the repeated attempt exposed; null if there is none. */
  exposedVariable(): string | null;
}

function hidesSecrets({ evidence }: Pick<EvidenceParts, 'evidence'>): boolean {
  return evidence?.capturesSecrets !== true;
}

function droppedText(variable: string, run: FailedRun): string {
  return `The capture is not saved: ${exposedText(variable, run)}`;
}

function exposedText(variable: string, { check }: FailedRun): string {
  // Scripts may have put the variable into any request.
  const what = hasScripts(check)
    ? `a request of the check or its scripts is not encrypted and may have the variable ${variable}`
    : `the request is not encrypted and has the variable ${variable}`;
  return `${what}, which only the agent has (EVIDENCE=with-secrets captures it all the same)`;
}

/**
 * null if the attempt is not repeated: the packets could not be saved, they would show a secret
 * that only the agent has, or the request might do harm.
 */
function repeatOf(
  { sentMethods, exposedVariable, jobLog }: Attempt,
  endpoint: Endpoint,
  run: FailedRun,
  parts: EvidenceParts & AttemptParts,
): Repeat | null {
  const { check, plan } = run;
  if (parts.artifacts === null) return null;
  const exposed = hidesSecrets(parts) ? exposedVariable() : null;
  if (exposed !== null) {
    jobLog.conclude('info', `No capture: ${exposedText(exposed, run)}`);
    return null;
  }
  const unsafe = sentMethods.find((method) => !SAFE_METHODS.has(method));
  if (unsafe !== undefined && plan.maxRetries === 0) {
    jobLog.conclude(
      'info',
      `No capture: a ${unsafe} request was sent, and a check without retries does not send it again`,
    );
    return null;
  }
  const resolver = pinnedTo(endpoint, parts.resolver);
  let repeated: Attempt | null = null;
  return {
    async make(signal) {
      const options: AttemptOptions = { opening: 'repeated', signal, keepLongBody: false };
      const same = overFamilyOf(check, endpoint.address);
      repeated = await makeAttempt(same, { ...parts, resolver }, options);
      repeated.forget();
      return outcomeText(repeated);
    },
    exposedVariable: () => repeated?.exposedVariable() ?? null,
  };
}

const NOT_EVALUATED =
  'reached the target; its assertions were not evaluated, as the agent had no memory for the body';

function outcomeText({ failure, verdict, lackedBytes }: Attempt): string {
  if (failure?.code === 'CANCELLED') return 'did not end within its time';
  if (failure !== null) return `ended with ${failure.code}`;
  if (verdict.hasFailures) return 'failed, but reached the target';
  return lackedBytes > 0 ? NOT_EVALUATED : 'passed';
}
