import { artifactIdOf } from '../../../../model/ids.ts';
import type { EvidenceArtifact } from '../../../../model/root-cause-analysis.ts';
import type { ReceivedResult } from '../../../../wire/v1/check-result.ts';
import { detailOf } from './subject.ts';

/** The name that agents give the body of a failed attempt. */
const BODY_ARTIFACT = 'response-body';

/** What is stored of a failure, by what it shows. */
export interface StoredEvidence {
  readonly result: EvidenceArtifact;
  readonly body: readonly EvidenceArtifact[];
  readonly capture: readonly EvidenceArtifact[];
  readonly route: readonly EvidenceArtifact[];
  readonly log: readonly EvidenceArtifact[];
  /** Other files that the agent uploaded. */
  readonly assets: readonly EvidenceArtifact[];
}

export function storedEvidenceOf(result: ReceivedResult): StoredEvidence {
  const detail = detailOf(result);
  const path = `/v1/check-results/${result.checkId}/${result.id}`;
  const of = (field: string, type: string): readonly EvidenceArtifact[] => [
    { name: `${path}#${field}`, type },
  ];
  const bodyUrl = `/v1/artifacts/${artifactIdOf(result.id, BODY_ARTIFACT)}`;
  const assets = detail?.jobAssets ?? [];
  const upload = assets.filter((asset) => asset === bodyUrl);
  const hasBody = result.apiCheckResult?.response?.body != null;
  const pcap = detail?.pcapDataUrl ?? null;
  const hasRoute = (detail?.traceroute ?? null) !== null;
  return {
    result: { name: path, type: 'check-result' },
    body: [
      ...(hasBody ? of('apiCheckResult.response.body', 'response-body') : []),
      ...upload.map((name) => ({ name, type: 'response-body' })),
    ],
    capture: pcap === null || pcap === '' ? [] : [{ name: pcap, type: 'packet-capture' }],
    route: hasRoute ? of('traceroute', 'traceroute') : [],
    log: (detail?.jobLog.length ?? 0) > 0 ? of('jobLog', 'job-log') : [],
    assets: assets
      .filter((asset) => asset !== bodyUrl && asset !== pcap && asset !== '')
      .map((name) => ({ name, type: 'job-asset' })),
  };
}
