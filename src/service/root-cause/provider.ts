import type { Analysis, AnalysisProvider } from '../../model/result/root-cause-analysis.ts';
import type { AnalysisInput } from './analysis-input.ts';

/** An analysis, or why there is none: a line for the log. */
export type Analysed =
  | { readonly ok: true; readonly model: string; readonly analysis: Analysis }
  | { readonly ok: false; readonly problem: string };

/** Makes analyses: the rules, or a model. */
export interface RootCauseProvider {
  readonly name: AnalysisProvider;
  /** Never rejects. Ends soon after the signal aborts. */
  analyse(input: AnalysisInput, signal: AbortSignal): Promise<Analysed>;
  close(): Promise<void>;
}
