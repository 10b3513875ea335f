import type { Assertion } from '../../model/check/assertion.ts';
import type { Outcome } from './evaluate-assertion.ts';

/** One assertion for the worker to evaluate. */
export interface WorkerStep {
  readonly step: number;
  readonly assertion: Assertion;
  readonly kind: 'text' | 'json-text';
  /** The regular expression or JSONPath. */
  readonly expression: string | null;
  /** null: the document of the previous step. */
  readonly text: string | null;
  readonly limitMs: number;
}

export interface WorkerReply {
  readonly step: number;
  /** null: it was stopped at its limit. */
  readonly outcome: Outcome | null;
}

/**
 * Shared with the worker: the step whose expression is running, or 0. The main thread can read it
 * while the worker is busy.
 */
export interface WorkerStart {
  readonly running: Int32Array;
}
