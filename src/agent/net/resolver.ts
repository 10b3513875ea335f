import type { Failure } from '../../model/result/error-codes.ts';
import type { JobLog } from '../probes/job-log.ts';
import type { StarvationWatch } from './starvation-watch.ts';

export type Family = 4 | 6;

export interface ResolveOptions {
  readonly signal: AbortSignal;
  /** Monotonic instant at which the look-up ends at the latest. */
  readonly deadlineMs: number;
  readonly starvation?: StarvationWatch | undefined;
  readonly log: JobLog;
}

export type Resolution =
  | { readonly ok: true; readonly addresses: readonly [string, ...string[]] }
  | { readonly ok: false; readonly failure: Failure };

/**
 * Resolves a host name to addresses of one family. An address of that family is returned unchanged;
 * one of the other family is DNS_NO_ADDRESS. Never throws because of a name server.
 */
export interface Resolver {
  resolve(hostname: string, family: Family, options: ResolveOptions): Promise<Resolution>;
}
