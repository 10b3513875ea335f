import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import {
  type Evidence,
  type EvidenceRoom,
  isWorthEvidence,
  type ToldEvidence,
} from '../evidence/evidence.ts';
import type { SecretsVault } from '../secrets/vault.ts';
import type { AddedArtifact } from '../upload/artifact-outbox.ts';
import type { Attempt } from './attempt.ts';
import type { ArtifactTaker } from './failed-body.ts';

export const TRACE_ARTIFACT = 'traceroute.json';
export const CAPTURE_ARTIFACT = 'capture.pcap';

/** What a result says of the diagnostic pass about its run. */
export interface FailureEvidence extends ToldEvidence {
  /** Paths of both artifacts, as far as they are kept. */
  readonly assets: readonly string[];
}

export const NO_EVIDENCE: FailureEvidence = { traceroute: null, pcapDataUrl: null, assets: [] };

export interface EvidenceParts {
  readonly evidence: EvidenceRoom | null;
  readonly artifacts: ArtifactTaker | null;
  readonly secrets: Pick<SecretsVault, 'scrubber'>;
  readonly log: Logger;
}

interface Owner {
  readonly checkId: string;
  readonly resultId: string;
}

/** Whether a diagnostic pass is due: the target was not reached, or answered too few echoes. */
export function wantsEvidence(attempt: Attempt, { evidence }: EvidenceParts): boolean {
  const { verdict, endpoint, unreached, failure } = attempt;
  const isDue = verdict.hasFailures && unreached && isWorthEvidence(failure?.code ?? null);
  return evidence !== null && endpoint !== null && isDue;
}

/**
 * Makes the diagnostic pass about a failed attempt (SEMANTICS 3) and puts what it found up as
 * artifacts. The job log tells of it. Never rejects: the verdict stands with evidence and without.
 */
export async function gatherEvidence(
  attempt: Attempt,
  repeat: (signal: AbortSignal) => Promise<Attempt>,
  signal: AbortSignal,
  parts: EvidenceParts,
): Promise<Evidence | null> {
  const { endpoint, jobLog } = attempt;
  if (parts.evidence === null || endpoint === null) return null;
  try {
    const about = {
      endpoint,
      repeat: async (ended: AbortSignal) => {
        const repeated = await repeat(ended);
        repeated.forget();
        return outcomeText(repeated);
      },
      wantsCapture: parts.artifacts !== null,
    };
    const found = await parts.evidence.gather(about, signal);
    for (const note of found.notes) jobLog.info(note);
    return found;
  } catch (fault) {
    parts.log.error({ err: fault }, `no evidence: ${messageOf(fault)}; please report this`);
    jobLog.warn('No trace and no capture: a fault of the agent itself');
    return null;
  }
}

/** Puts both up as artifacts. Never rejects; what is off with that stands in the job log. */
export async function keepEvidence(
  found: Evidence | null,
  owner: Owner,
  { jobLog }: Pick<Attempt, 'jobLog'>,
  { artifacts, secrets }: EvidenceParts,
): Promise<FailureEvidence> {
  if (found === null) return NO_EVIDENCE;
  const traceroute = secrets.scrubber.deep(found.traceroute);
  if (artifacts === null) return { ...NO_EVIDENCE, traceroute };
  const assetOf = (added: AddedArtifact | null): string | null => {
    if (added === null || added.ok) return added?.asset ?? null;
    jobLog.warn(added.note);
    return null;
  };
  const trace =
    traceroute === null
      ? null
      : await artifacts.add({
          ...owner,
          name: TRACE_ARTIFACT,
          contentType: 'application/json',
          bytes: Buffer.from(`${JSON.stringify(traceroute, null, 2)}\n`),
        });
  // Packets are kept as they were: a capture that was changed is none (SEMANTICS 2).
  const capture =
    found.captured === null
      ? null
      : await artifacts.add({
          ...owner,
          name: CAPTURE_ARTIFACT,
          contentType: 'application/vnd.tcpdump.pcap',
          bytes: found.captured.bytes,
        });
  const pcapDataUrl = assetOf(capture);
  const assets = [assetOf(trace), pcapDataUrl].filter((asset) => asset !== null);
  return { traceroute, pcapDataUrl, assets };
}

function outcomeText({ failure, verdict }: Attempt): string {
  if (failure?.code === 'CANCELLED') return 'did not end within its time';
  if (failure !== null) return `ended with ${failure.code}`;
  return verdict.hasFailures ? 'failed, but reached the target' : 'passed';
}
