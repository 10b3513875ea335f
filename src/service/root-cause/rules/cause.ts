import type { ERROR_CODES } from '../../../model/result/error-codes.ts';
import type { Classification, ReferenceLink } from '../../../model/result/root-cause-analysis.ts';
import type { AnalysisInput } from '../analysis-input.ts';
import type { Subject } from './subject.ts';

/** A general cause of failures: a row of a table. */
export interface CauseRow {
  readonly classification: Classification;
  /** What is known, then what is likely. Whole sentences. */
  readonly cause: (subject: Subject, input: AnalysisInput) => string;
  /** What to do. Whole sentences. */
  readonly fix: (subject: Subject, input: AnalysisInput) => string;
  readonly links: readonly ReferenceLink[];
}

type Codes = typeof ERROR_CODES;
/** The error codes of some phases: a table that lacks one of them does not compile. */
export type CodesOf<Phase extends Codes[keyof Codes]['phase']> = {
  [Code in keyof Codes]: Codes[Code]['phase'] extends Phase ? Code : never;
}[keyof Codes];
