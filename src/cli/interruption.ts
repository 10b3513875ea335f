import { guardAgainstFaults } from '../runtime/fault-guard.ts';
import { StopSignals } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { EXIT, type Terminal } from './terminal.ts';

/** Cancelled checks end within milliseconds; those that take longer than this are abandoned. */
const GRACE_MS = 5_000;

/** Whether a command was interrupted, and the exit code that it then returns. */
export interface Interruption {
  /**
   * Aborted on the first SIGINT or SIGTERM, when stdout was closed (`| head`), or on an uncaught
   * error, which Node would print with all its properties.
   */
  readonly signal: AbortSignal;
  /** null while the command is not interrupted. */
  readonly exitCode: number | null;
  dispose(): void;
}

/**
 * @param exitNow called on a second signal, or when the command does not end by itself
 * @param graceMs how long it may take to end by itself
 */
export function watchForInterruption(
  { signals, stdout, clock }: Terminal,
  log: Logger,
  exitNow: (exitCode: number) => void,
  graceMs: number = GRACE_MS,
): Interruption {
  let exitCode: number | null = null;
  const because = (code: number) => (): void => {
    exitCode ??= code;
  };
  const onInterrupt = because(EXIT.interrupted);
  const onTerminate = because(EXIT.terminated);
  signals.on('SIGINT', onInterrupt);
  signals.on('SIGTERM', onTerminate);
  const stop = new StopSignals({ emitter: signals, clock, graceMs, log });
  const guard = guardAgainstFaults({ emitter: signals, log, stop });
  const codeNow = (): number | null => (guard.faults > 0 ? EXIT.internal : exitCode);
  const onError = (): void => {
    exitCode ??= EXIT.closedOutput;
    stop.request('stdout was closed');
  };
  stdout.on('error', onError);
  stop.now.addEventListener('abort', () => exitNow(codeNow() ?? EXIT.interrupted));
  return {
    signal: stop.stopping,
    get exitCode() {
      return codeNow();
    },
    dispose() {
      guard.dispose();
      stop.dispose();
      signals.off('SIGINT', onInterrupt);
      signals.off('SIGTERM', onTerminate);
      stdout.off('error', onError);
    },
  };
}
