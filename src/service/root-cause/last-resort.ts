import type { Analysis } from '../../model/result/root-cause-analysis.ts';

/** The analysis where no failed result is stored, or an internal error prevented one. */
export function analysisWithoutInput(why: 'result-gone' | 'fault'): Analysis {
  const isGone = why === 'result-gone';
  return {
    classification: 'UNKNOWN',
    userImpact: 'Not known.',
    rootCause: isGone
      ? 'The failed result is not stored any more, so nothing can be concluded from it.'
      : 'The analysis could not be made, because of a fault of this service that its log tells.',
    codeFix: isGone
      ? 'Ask for the analysis of a failure that is still stored, or keep results longer (RETENTION_DAYS).'
      : 'Look into the log of this service, and ask for the analysis again.',
    evidence: [],
    referenceLinks: [],
  };
}
