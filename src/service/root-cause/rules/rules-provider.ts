import type { Analysis, ReferenceLink } from '../../../model/result/root-cause-analysis.ts';
import { shortenedToChars } from '../../../runtime/text/quoted.ts';
import type { AnalysisInput } from '../analysis-input.ts';
import type { RootCauseProvider } from '../provider.ts';
import { evidenceOf } from './evidence.ts';
import { findCause } from './find-cause.ts';
import { impactOf } from './impacts.ts';
import { scopeSentence } from './scope.ts';
import { analysisSubject } from './subject.ts';

/** Increases with each release that changes the rules. */
export const RULES_MODEL = 'rules-1';
const MAX_CHARS = 4000;
/** Classifications for which the locations of a failure are no evidence. */
const SCOPELESS: ReadonlySet<string> = new Set([
  'AGENT_PROBLEM',
  'CHECK_CONFIGURATION',
  'UNEXPECTED_SUCCESS',
  'UNKNOWN',
]);

/** A pure function of the stored input. */
export function analyseByRules(input: AnalysisInput): Analysis {
  const subject = analysisSubject(input);
  const cause = findCause(input);
  const scope = SCOPELESS.has(cause.classification) ? null : scopeSentence(subject, input);
  const rootCause = [cause.cause(subject, input), scope].filter((text) => text !== null).join(' ');
  const links: readonly ReferenceLink[] = cause.links;
  return {
    classification: cause.classification,
    userImpact: cut(impactOf(cause.classification, subject, input)),
    rootCause: cut(rootCause),
    codeFix: cut(cause.fix(subject, input)),
    evidence: evidenceOf(subject, input).map(({ artifacts, description }) => ({
      artifacts: [...artifacts],
      description: cut(description),
    })),
    referenceLinks: [...links],
  };
}

function cut(text: string): string {
  return shortenedToChars(text, MAX_CHARS - 1);
}

export const rulesProvider: RootCauseProvider = {
  name: 'rules',
  analyse: async (input) => ({ ok: true, model: RULES_MODEL, analysis: analyseByRules(input) }),
  close: async () => {},
};
