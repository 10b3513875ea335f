import type { Check } from '../../model/check/check.ts';
import type { ClientCertificate } from '../../model/check/client-certificate.ts';
import type { OwnVariable } from '../../model/check/variable.ts';
import type { FileResources } from '../../model/check-file/sections.ts';
import type { Pause } from '../../model/schedule/pause.ts';
import type { RotationRule } from '../../model/schedule/rotation.ts';
import type { OneOff } from '../../wire/v1/assignment.ts';

/** The checks to run from now on. */
export interface CheckSet {
  readonly checks: readonly Check[];
  readonly clientCertificates: readonly ClientCertificate[];
  /** By check id, which slots this location runs; without an entry, every slot. */
  readonly rotations: ReadonlyMap<string, RotationRule>;
  /** The `runLocation` of results. */
  readonly location: string;
  /**
   * By check id, for checks that are new in this set: epoch milliseconds after which no agent was
   * responsible for its slots.
   */
  readonly unanswered: ReadonlyMap<string, number>;
  /**
   * By check id, for checks that the service had taken from this agent meanwhile: epoch
   * milliseconds up to which other agents are responsible for their slots.
   */
  readonly answered?: ReadonlyMap<string, number>;
  /** Variables for all checks; a check's own variables take precedence. */
  readonly variables: readonly OwnVariable[];
  /** Names of shared variables whose values the service cannot decrypt. */
  readonly unreadableVariables?: readonly string[];
  /** The proxy of URL, API and DOH checks; null if there is none. */
  readonly proxyUrl: string | null;
  /** The pauses of checks. */
  readonly pauses: readonly Pause[];
  /** By check id, the tags of its group, which pauses also refer to. */
  readonly groupTags: ReadonlyMap<string, readonly string[]>;
  /** What a file defines for a service: `vedette up` applies it, agents ignore it. */
  readonly resources?: FileResources;
  /** The `name` of the file: null if it has none. */
  readonly fileName?: string | null;
}

/** Receives the checks to run. Must not throw. */
export interface CheckListener {
  /** Called with every valid set, including the first. */
  onChecks(set: CheckSet): void;
  /** Called once per one-off run. */
  onRun(run: OneOff): void;
  /**
   * A user cancelled a run that was passed on with `onRun`. May be called more than once, also
   * after its end.
   */
  onRunCancelled(runId: string): void;
  /**
   * Called once per check that is tried without being saved. Its `runId` is the id of the trial.
   */
  onTrial(trial: OneOff): void;
}

/** The source of checks: a file that is watched, or a service that is polled. */
export interface CheckSource {
  /**
   * Whether the check file was valid when it was last read; if not, the last valid set stays in
   * use. null before the first reading, and if the source is not a file.
   */
  readonly checkFileUsable: boolean | null;
  /** Calls the listener until the signal aborts. */
  watch(listener: CheckListener, signal: AbortSignal): Promise<void>;
}
