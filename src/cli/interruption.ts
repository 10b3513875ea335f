import { guardAgainstFaults } from '../runtime/fault-guard.ts';
import { StopSignals } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { EXIT, type Terminal } from './terminal.ts';

/** Checks that are cut short end within milliseconds; whatever does not is left behind. */
const GRACE_MS = 5_000;

/** What interrupted a command, and its exit code. */
export interface Interruption {
  /**
   * Aborted on the first SIGINT or SIGTERM, when stdout was closed (`| head`), or at an error that
   * nobody caught, which Node would print with all that it holds.
   */
  readonly signal: AbortSignal;
  /** null as long as nothing interrupted. */
  readonly exitCode: number | null;
  dispose(): void;
}

/** @param exitNow called on a second signal, or when the command does not end by itself */
export function watchForInterruption(
  { signals, stdout, clock }: Terminal,
  log: Logger,
  exitNow: (exitCode: number) => void,
): Interruption {
  let exitCode: number | null = null;
  const because = (code: number) => (): void => {
    exitCode ??= code;
  };
  const onInterrupt = because(EXIT.interrupted);
  const onTerminate = because(EXIT.terminated);
  signals.on('SIGINT', onInterrupt);
  signals.on('SIGTERM', onTerminate);
  const stop = new StopSignals({ emitter: signals, clock, graceMs: GRACE_MS, log });
  const guard = guardAgainstFaults({ emitter: signals, log, stop });
  const codeNow = (): number | null => (guard.faults > 0 ? EXIT.internal : exitCode);
  const onError = (): void => {
    exitCode ??= EXIT.closedOutput;
    stop.request('nobody reads stdout any more');
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
