import type { Analysis, ReferenceLink } from '../../../model/result/root-cause-analysis.ts';
import type { AnalysisInput } from '../analysis-input.ts';
import type { RootCauseProvider } from '../provider.ts';
import { evidenceOf } from './evidence.ts';
import { findCause } from './find-cause.ts';
import { impactOf } from './impacts.ts';
import { scopeSentence } from './scope.ts';
import { subjectOf } from './subject.ts';
import { shortened } from './words.ts';

/** Goes up with each release whose rules say something else. */
export const RULES_MODEL = 'rules-1';
const MAX_CHARS = 4000;
/** Where it happens says nothing of these. */
const SCOPELESS: ReadonlySet<string> = new Set([
  'AGENT_PROBLEM',
  'CHECK_CONFIGURATION',
  'UNEXPECTED_SUCCESS',
  'UNKNOWN',
]);

/** Says why something failed, from what is stored alone: the same of the same, always. */
export function analyseByRules(file: AnalysisInput): Analysis {
  const subject = subjectOf(file);
  const cause = findCause(file);
  const scope = SCOPELESS.has(cause.classification) ? null : scopeSentence(subject, file);
  const rootCause = [cause.cause(subject, file), scope].filter((text) => text !== null).join(' ');
  const links: readonly ReferenceLink[] = cause.links;
  return {
    classification: cause.classification,
    userImpact: cut(impactOf(cause.classification, subject, file)),
    rootCause: cut(rootCause),
    codeFix: cut(cause.fix(subject, file)),
    evidence: evidenceOf(subject, file).map(({ artifacts, description }) => ({
      artifacts: [...artifacts],
      description: cut(description),
    })),
    referenceLinks: [...links],
  };
}

function cut(text: string): string {
  return shortened(text, MAX_CHARS - 1);
}

export const rulesProvider: RootCauseProvider = {
  name: 'rules',
  analyse: async (file) => ({ ok: true, model: RULES_MODEL, analysis: analyseByRules(file) }),
  close: async () => {},
};
