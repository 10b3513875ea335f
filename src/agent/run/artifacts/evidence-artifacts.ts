import type { Traceroute } from '../../../model/result/traceroute.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { Scrubber } from '../../../scrub/scrubber.ts';
import type { Captured } from '../../evidence/capture.ts';
import type { Evidence, ReportedEvidence } from '../../evidence/evidence.ts';
import type { NewArtifact } from '../../upload/artifact-outbox.ts';
import type { Attempt } from '../attempt.ts';
import type { ArtifactTaker } from './failed-body.ts';

const TRACE_ARTIFACT = 'traceroute.json';
const CAPTURE_ARTIFACT = 'capture.pcap';

/** What a result says of the diagnostic pass about its run. */
export interface FailureEvidence extends ReportedEvidence {
  /** Paths of both artifacts, as far as they are kept. */
  readonly assets: readonly string[];
}

const NO_EVIDENCE: FailureEvidence = { traceroute: null, pcapDataUrl: null, assets: [] };

interface Owner {
  readonly checkId: string;
  readonly resultId: string;
}

/** Puts both up as artifacts. Never rejects; what is off with that stands in the job log. */
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
    const keep = async (artifact: KeptAs): Promise<string | null> => {
      const added = await artifacts.add({ ...owner, ...artifact });
      if (added.ok) return added.asset;
      jobLog.conclude('warn', added.note);
      return null;
    };
    const trace = traceroute === null ? null : await keep(traceArtifact(traceroute));
    const { captured } = found;
    const pcapDataUrl = captured === null ? null : await keep(captureArtifact(captured));
    const assets = [trace, pcapDataUrl].filter((asset) => asset !== null);
    return { traceroute, pcapDataUrl, assets };
  } catch (fault) {
    log.error(
      { err: fault, ...owner },
      `evidence is lost: ${messageOf(fault)}; please report this`,
    );
    jobLog.conclude(
      'warn',
      'The trace and the capture could not be kept: a fault of the agent itself',
    );
    return NO_EVIDENCE;
  }
}

type KeptAs = Pick<NewArtifact, 'name' | 'contentType' | 'bytes'>;

function traceArtifact(traceroute: Traceroute): KeptAs {
  const bytes = Buffer.from(`${JSON.stringify(traceroute, null, 2)}\n`);
  return { name: TRACE_ARTIFACT, contentType: 'application/json', bytes };
}

/** Packets are kept as they were: a capture that was changed is none (SEMANTICS 2). */
function captureArtifact({ bytes }: Captured): KeptAs {
  return { name: CAPTURE_ARTIFACT, contentType: 'application/vnd.tcpdump.pcap', bytes };
}
