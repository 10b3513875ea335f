import { artifactIdOf } from '../../../model/ids.ts';
import type { EvidenceArtifact } from '../../../model/result/root-cause-analysis.ts';
import type { ReceivedResult } from '../../../wire/v1/check-result.ts';
import { detailOf } from './subject.ts';

/** The names that agents give what they upload of a failed attempt. */
const BODY_ARTIFACTS = ['response-body'];
const CAPTURE_ARTIFACTS = ['capture.pcap'];
const ROUTE_ARTIFACTS = ['traceroute.json', 'traceroute'];

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
  const assets = (detail?.jobAssets ?? []).filter((asset) => asset !== '');
  const named = (names: readonly string[]): readonly string[] => {
    const urls = names.map((name) => `/v1/artifacts/${artifactIdOf(result.id, name)}`);
    return assets.filter((asset) => urls.includes(asset));
  };
  const typed = (urls: Iterable<string>, type: string): readonly EvidenceArtifact[] =>
    [...urls].map((name) => ({ name, type }));
  const hasBody = result.apiCheckResult?.response?.body != null;
  const pcap = detail?.pcapDataUrl ?? '';
  const bodies = named(BODY_ARTIFACTS);
  const captures = new Set([...(pcap === '' ? [] : [pcap]), ...named(CAPTURE_ARTIFACTS)]);
  const traces = named(ROUTE_ARTIFACTS);
  const hasRoute = (detail?.traceroute ?? null) !== null;
  const known = new Set([...bodies, ...captures, ...traces]);
  return {
    result: { name: path, type: 'check-result' },
    body: [
      ...(hasBody ? of('apiCheckResult.response.body', 'response-body') : []),
      ...typed(bodies, 'response-body'),
    ],
    capture: typed(captures, 'packet-capture'),
    route: [...(hasRoute ? of('traceroute', 'traceroute') : []), ...typed(traces, 'traceroute')],
    log: (detail?.jobLog.length ?? 0) > 0 ? of('jobLog', 'job-log') : [],
    assets: typed(
      assets.filter((asset) => !known.has(asset)),
      'job-asset',
    ),
  };
}
