import type { Check } from '../../model/check/check.ts';
import type { ClientCertificate } from '../../model/check/client-certificate.ts';
import type { OwnVariable } from '../../model/check/variable.ts';
import type { Pause } from '../../model/schedule/pause.ts';
import type { RotationRule } from '../../model/schedule/rotation.ts';
import type { OneOff } from '../../wire/v1/assignment.ts';

/** What is to be run from now on. */
export interface CheckSet {
  readonly checks: readonly Check[];
  readonly clientCertificates: readonly ClientCertificate[];
  /** By check id, which slots this location runs; every slot where there is no entry. */
  readonly rotations: ReadonlyMap<string, RotationRule>;
  /** The `runLocation` of results. */
  readonly location: string;
  /**
   * By check id, of those that came with this set: epoch milliseconds after which nobody answered
   * for its slots.
   */
  readonly unanswered: ReadonlyMap<string, number>;
  /**
   * By check id, of those that were in the set before and that the service had taken from this agent
   * meanwhile: epoch milliseconds up to which others answer for their slots.
   */
  readonly answered?: ReadonlyMap<string, number>;
  /** What templates of all the checks stand for, where a check has no variable of its own. */
  readonly variables: readonly OwnVariable[];
  /** What URL and API checks go through; null for the direct way. */
  readonly proxyUrl: string | null;
  /** When which of the checks are not run. */
  readonly pauses: readonly Pause[];
  /** By check id, the tags of its group, where it has any. Pauses go by them, too. */
  readonly groupTags: ReadonlyMap<string, readonly string[]>;
}

/** Receives what to run. Never throws. */
export interface CheckListener {
  /** Every new valid set, the first one included. */
  onChecks(set: CheckSet): void;
  /** A run beside the schedule; called once for each. */
  onRun(run: OneOff): void;
}

/** Where checks come from: a file that is watched, or a service that is polled. */
export interface CheckSource {
  /**
   * Whether the check file could be used when it was last read: where not, the checks of an older
   * one go on. null before it was first read, and where checks come from no file.
   */
  readonly checkFileUsable: boolean | null;
  /** Calls the listener until the signal aborts. */
  watch(listener: CheckListener, signal: AbortSignal): Promise<void>;
}
