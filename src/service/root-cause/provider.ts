import type { Analysis, AnalysisProvider } from '../../model/result/root-cause-analysis.ts';
import type { AnalysisInput } from './analysis-input.ts';

/** What a provider made of a case, or why it made nothing of it: a line for the log. */
export type Analysed =
  | { readonly ok: true; readonly model: string; readonly analysis: Analysis }
  | { readonly ok: false; readonly problem: string };

/** Whoever tells why something failed. */
export interface RootCauseProvider {
  readonly name: AnalysisProvider;
  /** Never rejects. Ends soon after the signal aborts. */
  analyse(file: AnalysisInput, signal: AbortSignal): Promise<Analysed>;
  close(): Promise<void>;
}
