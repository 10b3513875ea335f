import type { Assertion } from '../../model/check/assertions/assertion.ts';
import type { Outcome } from './evaluate-assertion.ts';

/** One assertion for the worker to evaluate. */
export interface WorkerStep {
  readonly step: number;
  readonly assertion: Assertion;
  readonly kind: 'text' | 'matched-text' | 'json-text';
  /** The regular expression or JSONPath. */
  readonly expression: string | null;
  /** null: the document of the previous step. */
  readonly text: string | null;
  /** Limit in CPU time, if the kernel reports it. */
  readonly limitMs: number;
  /** Maximum wall-clock milliseconds for which it runs to get that much CPU time. */
  readonly maxMs: number;
}

/** The first message of a worker. */
export interface WorkerReady {
  /** The kernel's file with the worker's CPU time; null if there is none. */
  readonly schedstat: string | null;
}

export interface WorkerReply {
  readonly step: number;
  /** null if the evaluation was stopped at its limit. */
  readonly outcome: Outcome | null;
  /** Whether it then had used all of its limit in CPU time; null if unknown. */
  readonly hadItsTime: boolean | null;
}

export interface WorkerStart {
  /** Shared with the worker: [number of the current run, 0 if idle; its limit in ms]. */
  readonly running: Int32Array;
  /** The file of the kernel with the CPU time of the thread that reads it. */
  readonly schedstat: string;
}
