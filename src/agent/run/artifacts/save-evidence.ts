import type { Traceroute } from '../../../model/result/traceroute.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { Scrubber } from '../../../scrub/scrubber.ts';
import type { Captured } from '../../evidence/capture/capture.ts';
import type { Evidence, ReportedEvidence } from '../../evidence/evidence-budget.ts';
import type { NewArtifact } from '../../upload/artifact-outbox.ts';
import type { Attempt } from '../attempt.ts';
import type { ArtifactTaker } from './failed-body.ts';

const TRACE_ARTIFACT = 'traceroute.json';
const CAPTURE_ARTIFACT = 'capture.pcap';

/** The evidence of the diagnostic pass in a result. */
export interface FailureEvidence extends ReportedEvidence {
  /** Paths of the artifacts that were saved. */
  readonly assets: readonly string[];
}

const NO_EVIDENCE: FailureEvidence = { traceroute: null, pcapDataUrl: null, assets: [] };

interface Owner {
  readonly checkId: string;
  readonly resultId: string;
}

/** Saves the trace and the capture as artifacts. Never rejects: problems go to the job log. */
export async function saveEvidence(
  found: Evidence | null,
  owner: Owner,
  { jobLog }: Pick<Attempt, 'jobLog'>,
  {
    artifacts,
    scrubber,
    log,
  }: {
    readonly artifacts: ArtifactTaker | null;
    readonly scrubber: () => Promise<Scrubber>;
    readonly log: Logger;
  },
): Promise<FailureEvidence> {
  if (found === null) return NO_EVIDENCE;
  try {
    const traceroute = (await scrubber()).deep(found.traceroute);
    if (artifacts === null) return { ...NO_EVIDENCE, traceroute };
    const save = async (artifact: ArtifactContent): Promise<string | null> => {
      const added = await artifacts.add({ ...owner, ...artifact });
      if (added.ok) return added.asset;
      jobLog.conclude('warn', added.note);
      return null;
    };
    const trace = traceroute === null ? null : await save(traceArtifact(traceroute));
    const { captured } = found;
    const pcapDataUrl = captured === null ? null : await save(captureArtifact(captured));
    const assets = [trace, pcapDataUrl].filter((asset) => asset !== null);
    return { traceroute, pcapDataUrl, assets };
  } catch (fault) {
    log.error(
      { err: fault, ...owner },
      `evidence is lost: ${messageOf(fault)}; please report this`,
    );
    jobLog.conclude(
      'warn',
      'The trace and the capture could not be saved: a fault of the agent itself',
    );
    return NO_EVIDENCE;
  }
}

type ArtifactContent = Pick<NewArtifact, 'name' | 'contentType' | 'bytes'>;

function traceArtifact(traceroute: Traceroute): ArtifactContent {
  const bytes = Buffer.from(`${JSON.stringify(traceroute, null, 2)}\n`);
  return { name: TRACE_ARTIFACT, contentType: 'application/json', bytes };
}

/**
 * Packets are saved unchanged: a capture with masked bytes would be invalid (src/scrub/README.md,
 * "What is masked, and where").
 */
function captureArtifact({ bytes }: Captured): ArtifactContent {
  return { name: CAPTURE_ARTIFACT, contentType: 'application/vnd.tcpdump.pcap', bytes };
}
