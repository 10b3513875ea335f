import type { Moment } from '../../../runtime/boot-clock.ts';
import type { ServiceClient } from '../../service-client/service-client.ts';
import type { CheckSet, CheckSource } from '../check-source.ts';
import { openAgentIdentity } from './agent-identity.ts';
import { AssignedChecks } from './assigned-checks.ts';
import { AssignmentStore } from './assignment-store.ts';
import type { BackoffMs } from './poll-failures.ts';
import { Poller, type PollerOptions } from './poller.ts';

const BACKOFF_MS: BackoffMs = { min: 1_000, max: 30_000 };

export interface ServiceSourceOptions
  extends Omit<PollerOptions, 'identity' | 'assigned' | 'store' | 'backoffMs' | 'client'> {
  /** Its key seals the saved assignments. */
  readonly client: Pick<ServiceClient, 'post' | 'key'>;
  /** null: neither the agent's id nor its assignments outlive the process. */
  readonly dataDir: string | null;
  /** Default: 1 s to 30 s. */
  readonly backoffMs?: BackoffMs;
}

/** Checks that a service assigns, polled (src/agent/README.md, "While the service is away"). */
export interface ServiceSource extends CheckSource {
  readonly agentId: string;
  /** The epoch of the lease; 0 before the first answer and after the release. */
  readonly epoch: number;
  /** The revision of the last complete answer; 0 before the first. */
  readonly revision: number;
  /**
   * How far this machine's clock is ahead of the service's, milliseconds; null before the first
   * answer.
   */
  readonly clockAheadMs: number | null;
  /**
   * The assignments of the previous process in DATA_DIR; null if there are none. `watch` passes
   * them on first.
   */
  readonly lastSet: CheckSet | null;
  /**
   * See `Poller.pollForAssignments`: null if the agent continues with its checks; otherwise no slot
   * may begin before it resolves or the caller's time limit is over.
   */
  pollForAssignments(since: Moment): Promise<void> | null;
  /** Called when the location key changed: seals the file with the new key. */
  keyChanged(): void;
  /**
   * Called when the run's result is saved, or it was missed: the service need not send it again.
   */
  done(runId: string): void;
  /** Called when the trial has ended. */
  trialDone(trialId: string): void;
  /**
   * Returns the lease, so that the checks move at once. To be called after the signal of `watch`
   * has aborted; waits until `watch` has ended. Never rejects: a failure is logged, and the lease
   * expires.
   */
  release(signal: AbortSignal): Promise<void>;
  /**
   * Resolves when `watch` has ended and the assignments are on disk; at once if it never began.
   */
  ended(): Promise<void>;
}

/**
 * Reads the agent's identity and its last assignments.
 *
 * `watch` passes these checks on at once, so that an agent runs while its service is away; then it
 * polls until its signal aborts. It rejects with a VedetteError of kind `config` and code
 * AGENT_REPLACED if another process with the same agent id has replaced this agent.
 */
export async function createServiceSource(options: ServiceSourceOptions): Promise<ServiceSource> {
  const { dataDir, log, clock } = options;
  const identity = await openAgentIdentity(dataDir, log);
  const assigned = new AssignedChecks();
  const store = new AssignmentStore({
    dataDir,
    clock,
    log,
    current: () => assigned.saved,
    key: () => options.client.key,
  });
  const last = await store.load();
  if (last !== null) assigned.restore(last);
  const lastSet = last === null ? null : assigned.set;
  const poller = new Poller({
    ...options,
    backoffMs: options.backoffMs ?? BACKOFF_MS,
    identity,
    assigned,
    store,
  });
  return {
    checkFileUsable: null,
    agentId: identity.agentId,
    lastSet,
    get epoch() {
      return poller.epoch;
    },
    get revision() {
      return poller.revision;
    },
    get clockAheadMs() {
      return poller.clockAheadMs;
    },
    watch(listener, signal) {
      if (lastSet !== null) {
        const checks = lastSet.checks.length;
        log.info({ checks }, 'the last assignments run until the service sends others');
        listener.onChecks(lastSet);
      }
      return poller.run(listener, signal);
    },
    keyChanged() {
      // Without new assignments, the file may still be useful to an agent with the previous key.
      if (assigned.location !== '') store.changed();
    },
    pollForAssignments: (since) => poller.pollForAssignments(since),
    done: (runId) => poller.oneOffs.done(runId),
    trialDone: (trialId) => poller.trials.done(trialId),
    release: (signal) => poller.release(signal),
    ended: () => poller.ended,
  };
}
