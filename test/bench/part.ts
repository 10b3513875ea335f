/** The limit of a measure: at most or at least a number, for its value or for the ratio. */
export interface Target {
  readonly of: 'value' | 'ratio';
  readonly bound: 'at most' | 'at least';
  readonly number: number;
}

/** The values of one measure, before they are compared with its target. */
export interface Measured {
  /** Its name in the table. */
  readonly measure: string;
  /** One value per round. */
  readonly values: readonly number[];
  /** The value that the table shows for all rounds; the median unless given. */
  readonly summary?: 'median' | 'worst';
  /** For example `ms` or `checks/s`. */
  readonly unit: string;
  /** The values of another tool that did the same work in the same rounds. */
  readonly beside?: { readonly name: string; readonly values: readonly number[] };
  readonly target?: Target;
}

export interface PartContext {
  /** A short run shows that the part works; its figures mean little. */
  readonly short: boolean;
  /** How often each part is measured; the table has the medians. */
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
  /** If a target is not met: the reason, and what would meet it. */
  readonly answer?: string;
  /** Programs that it needs on the PATH. */
  readonly programs: readonly string[];
  /** Set if it needs namespaces or raw sockets. */
  readonly needsRoot?: boolean;
  /** Takes so long that it runs only if it is named, or with --short. */
  readonly isLong?: boolean;
  run(context: PartContext): Promise<readonly Measured[]>;
}
