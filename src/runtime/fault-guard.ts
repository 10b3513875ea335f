import type { EventEmitter } from 'node:events';
import type { StopSignals } from './lifecycle.ts';
import type { Logger } from './logger.ts';

export interface FaultGuard {
  /** The number of uncaught errors. Above 0, the exit code must not be 0. */
  readonly faults: number;
  dispose(): void;
}

export interface FaultGuardOptions {
  /** Emits uncaughtException and unhandledRejection: `process`, or a test's emitter. */
  readonly emitter: EventEmitter;
  readonly log: Logger;
  readonly stop: Pick<StopSignals, 'request'>;
  /** Receives the first of them, before it is logged. Must not throw. */
  readonly onFault?: (error: Error) => void;
}

/**
 * Handles uncaught errors, which are always bugs of Vedette. The state of the process is unknown
 * after one, so the process must end; its results are still valid, so it drains as on SIGTERM. Logs only
 * the first error: later ones are mostly its consequences.
 */
export function guardAgainstFaults(options: FaultGuardOptions): FaultGuard {
  const { emitter, log, stop } = options;
  let faults = 0;
  const onFault = (thrown: unknown): void => {
    faults += 1;
    if (faults > 1) return;
    const err = thrown instanceof Error ? thrown : new Error(String(thrown));
    options.onFault?.(err);
    log.fatal({ err, kind: 'internal' }, 'a fault of Vedette itself; please report it');
    stop.request('a fault of Vedette itself');
  };
  emitter.on('uncaughtException', onFault);
  emitter.on('unhandledRejection', onFault);
  return {
    get faults() {
      return faults;
    },
    dispose() {
      emitter.off('uncaughtException', onFault);
      emitter.off('unhandledRejection', onFault);
    },
  };
}
