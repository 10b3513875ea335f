import { artifactIdOf } from '../../../model/ids.ts';
import { detailOf } from '../../../model/result/result-summary.ts';
import {
  type AnalysisEvidence,
  type EvidenceArtifact,
  MAX_EVIDENCE,
} from '../../../model/result/root-cause-analysis.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import { durationText } from '../../../runtime/text/duration-text.ts';
import { shortenedToChars } from '../../../runtime/text/quoted.ts';
import type { ReceivedResult } from '../../../wire/v1/check-result.ts';
import type { AnalysisInput } from '../analysis-input.ts';
import { assertionText, failedAssertions } from './causes/assertion-causes.ts';
import { certificateSentences } from './certificate.ts';
import { responseSentences } from './response-facts.ts';
import { surroundingSentences } from './scope.ts';
import type { Subject } from './subject.ts';
import { withFullStop } from './texts.ts';
import { routeOf, routeSentences } from './traceroute.ts';

const MAX_ASSERTIONS = 10;
const MAX_LOG_LINES = 5;
const MAX_LINE = 500;

/** Names of artifacts that agents upload for a failed attempt. */
const BODY_ARTIFACTS = ['response-body'];
const CAPTURE_ARTIFACTS = ['capture.pcap'];
const ROUTE_ARTIFACTS = ['traceroute.json', 'traceroute'];

/** The stored artifacts of a failure by kind. */
interface StoredEvidence {
  readonly result: EvidenceArtifact;
  readonly body: readonly EvidenceArtifact[];
  readonly capture: readonly EvidenceArtifact[];
  readonly route: readonly EvidenceArtifact[];
  readonly log: readonly EvidenceArtifact[];
  /** Other files that the agent uploaded. */
  readonly assets: readonly EvidenceArtifact[];
}

/** The observations that an analysis is based on, with their artifacts. */
export function evidenceOf(subject: Subject, input: AnalysisInput): readonly AnalysisEvidence[] {
  const { result } = input;
  const stored = storedEvidenceOf(result);
  const observed = (
    sentences: readonly string[],
    ...artifacts: readonly (readonly EvidenceArtifact[])[]
  ): readonly AnalysisEvidence[] =>
    sentences.map((description) => ({ artifacts: artifacts.flat(), description }));

  const route = routeOf(result);
  const certificate = subject.tls?.certificate ?? null;
  return bounded([
    ...observed(whatFailed(subject, input), [stored.result]),
    ...observed(assertionSentences(input), [stored.result]),
    ...observed(certificate === null ? [] : certificateSentences(certificate, subject, input), [
      stored.result,
    ]),
    ...observed(responseSentences(result), [stored.result], stored.body),
    ...observed(phaseSentence(subject), [stored.result]),
    ...observed(
      route !== null
        ? routeSentences(route)
        : stored.route.length === 0
          ? []
          : ['The route to the target was traced.'],
      stored.route,
    ),
    ...observed(
      stored.capture.length === 0 ? [] : ['The packets of a repeated attempt were captured.'],
      stored.capture,
    ),
    ...observed(surroundingSentences(subject, input)),
    ...observed(
      stored.assets.length === 0 ? [] : ['The agent kept further files of the run.'],
      stored.assets.slice(0, 20),
    ),
    ...observed(logSentences(input), stored.log),
  ]);
}

/** The most important come first; the last one counts those that are left out. */
function bounded(all: readonly AnalysisEvidence[]): readonly AnalysisEvidence[] {
  if (all.length <= MAX_EVIDENCE) return all;
  const shown = all.slice(0, MAX_EVIDENCE - 1);
  const description = `${countText(all.length - shown.length, 'further observation is', 'further observations are')} left out here.`;
  return [...shown, { artifacts: [], description }];
}

function whatFailed(subject: Subject, { result }: AnalysisInput): readonly string[] {
  const retries =
    result.attempts === 0
      ? ''
      : `, after ${countText(result.attempts, 'retry', 'retries')} that failed too`;
  const code = subject.code === null ? '' : ` with ${subject.code}`;
  const said =
    subject.message === null
      ? ''
      : ` The agent says: ${withFullStop(shortenedToChars(subject.message, 1000))}`;
  const ended = result.hasErrors
    ? 'ended without a verdict'
    : result.hasFailures
      ? 'failed'
      : 'was degraded';
  return [
    `The run in ${subject.location} that began at ${result.startedAt} ${ended}${code}${retries}.${said}`,
  ];
}

function assertionSentences({ result }: AnalysisInput): readonly string[] {
  const failed = failedAssertions(result);
  const sentences = failed
    .slice(0, MAX_ASSERTIONS)
    .map(
      (one) =>
        `Assertion on ${assertionText(one)}: ${withFullStop(shortenedToChars(one.error, MAX_LINE))}`,
    );
  const more = failed.length - sentences.length;
  return more > 0 ? [...sentences, `${countText(more, 'more assertion')} failed.`] : sentences;
}

function phaseSentence({ phases }: Subject): readonly string[] {
  if (phases.length === 0) return [];
  const shown = phases.map(({ name, ms }) => `${name} ${durationText(ms)}`).join(', ');
  return [`The time was spent in these phases: ${shown}.`];
}

function logSentences({ result }: AnalysisInput): readonly string[] {
  return (detailOf(result)?.jobLog ?? [])
    .filter(({ level }) => level !== 'info')
    .slice(0, MAX_LOG_LINES)
    .map(({ msg }) => `The log of the run says: ${withFullStop(shortenedToChars(msg, MAX_LINE))}`);
}

function storedEvidenceOf(result: ReceivedResult): StoredEvidence {
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
