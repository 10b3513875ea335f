import {
  type Evidence,
  type EvidenceArtifact,
  MAX_EVIDENCE,
} from '../../../model/result/root-cause-analysis.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import type { AnalysisInput } from '../analysis-input.ts';
import { storedEvidenceOf } from './artifacts.ts';
import { assertionText, failedAssertions } from './causes/assertion-causes.ts';
import { certificateSentences } from './certificate.ts';
import { responseSentences } from './response-facts.ts';
import { routeOf, routeSentences } from './route.ts';
import { surroundingSentences } from './scope.ts';
import { detailOf, type Subject } from './subject.ts';
import { durationText, sentenceOf, shortened } from './words.ts';

const MAX_ASSERTIONS = 10;
const MAX_LOG_LINES = 5;
const MAX_LINE = 500;

/** All that the rest is concluded from: each with where it is stored. */
export function evidenceOf(subject: Subject, file: AnalysisInput): readonly Evidence[] {
  const { result } = file;
  const stored = storedEvidenceOf(result);
  const told = (
    sentences: readonly string[],
    ...artifacts: readonly (readonly EvidenceArtifact[])[]
  ): readonly Evidence[] =>
    sentences.map((description) => ({ artifacts: artifacts.flat(), description }));

  const route = routeOf(result);
  const certificate = subject.tls?.certificate ?? null;
  return bounded([
    ...told(whatFailed(subject, file), [stored.result]),
    ...told(assertionSentences(file), [stored.result]),
    ...told(certificate === null ? [] : certificateSentences(certificate, subject, file), [
      stored.result,
    ]),
    ...told(responseSentences(result), [stored.result], stored.body),
    ...told(phaseSentence(subject), [stored.result]),
    ...told(
      route !== null
        ? routeSentences(route)
        : stored.route.length === 0
          ? []
          : ['The way to the target was traced.'],
      stored.route,
    ),
    ...told(
      stored.capture.length === 0 ? [] : ['The packets of a repeated attempt were captured.'],
      stored.capture,
    ),
    ...told(surroundingSentences(subject, file)),
    ...told(
      stored.assets.length === 0 ? [] : ['The agent kept further files of the run.'],
      stored.assets.slice(0, 20),
    ),
    ...told(logSentences(file), stored.log),
  ]);
}

/** What is most telling comes first, and what is left out is said. */
function bounded(all: readonly Evidence[]): readonly Evidence[] {
  if (all.length <= MAX_EVIDENCE) return all;
  const kept = all.slice(0, MAX_EVIDENCE - 1);
  const description = `${countText(all.length - kept.length, 'further observation is', 'further observations are')} left out here.`;
  return [...kept, { artifacts: [], description }];
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
      : ` The agent says: ${sentenceOf(shortened(subject.message, 1000))}`;
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
      (one) => `Assertion on ${assertionText(one)}: ${sentenceOf(shortened(one.error, MAX_LINE))}`,
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
    .map(({ msg }) => `The log of the run says: ${sentenceOf(shortened(msg, MAX_LINE))}`);
}
