import type { EventEmitter } from 'node:events';
import type { StopSignals } from './lifecycle.ts';
import type { Logger } from './logger.ts';

export interface FaultGuard {
  /** How many errors nobody caught. Above 0, the exit code must not be 0. */
  readonly faults: number;
  dispose(): void;
}

export interface FaultGuardOptions {
  /** Emits uncaughtException and unhandledRejection: `process`, or an emitter of a test's. */
  readonly emitter: EventEmitter;
  readonly log: Logger;
  readonly stop: Pick<StopSignals, 'request'>;
  /** Told of the first of them, before it is logged. Never throws. */
  readonly onFault?: (error: Error) => void;
}

/**
 * For errors that nobody caught, which are always faults of our own. After one, the state of the
 * process is unknown, so it must end; but the results that it holds are still good, so it drains
 * as on SIGTERM. Only the first is logged, since what follows is mostly its echo.
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
