/** What a measure must reach: at most or at least a number, of the value itself or of the ratio. */
export interface Target {
  readonly of: 'value' | 'ratio';
  readonly bound: 'at most' | 'at least';
  readonly number: number;
}

/** What one kind of measuring gave, before it is judged. */
export interface Measured {
  /** What was measured, in words that stand in the README's table. */
  readonly measure: string;
  /** One number a round. */
  readonly values: readonly number[];
  /** The value that the table shows for all rounds; the median unless given. */
  readonly summary?: 'median' | 'worst';
  /** For example `ms` or `checks/s`. */
  readonly unit: string;
  /** What was measured beside it, doing the same work in the same round. */
  readonly beside?: { readonly name: string; readonly values: readonly number[] };
  readonly target?: Target;
}

export interface PartContext {
  /** A short run proves that the part works; its figures are worth little. */
  readonly short: boolean;
  /** How often each measure is taken; the table has the medians. */
  readonly rounds: number;
  /** Receives a few words about the current step, since measuring takes minutes. */
  readonly progress: (doing: string) => void;
  readonly signal: AbortSignal;
}

/** A part of the benchmark that can be run alone. */
export interface Part {
  readonly name: string;
  /** How it measures, in one or two sentences for the README. */
  readonly method: string;
  /** Where a target is not met: what keeps it, and what would meet it. */
  readonly answer?: string;
  /** Programs on the PATH without which it cannot run. */
  readonly programs: readonly string[];
  /** Only where it needs namespaces or raw sockets. */
  readonly needsRoot?: boolean;
  /** It takes so long that it is done only where it is named, or in short. */
  readonly isLong?: boolean;
  run(context: PartContext): Promise<readonly Measured[]>;
}
