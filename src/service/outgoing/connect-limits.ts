import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { systemClock } from '../../runtime/clock.ts';

/** Limits of establishing a connection. */
export interface ConnectLimits {
  /** For each step: look-up, connection to the peer or proxy, tunnel, TLS with the peer behind it. */
  readonly timeoutMs: number;
  /** Ends connections in progress, not established ones. */
  readonly signal: AbortSignal;
}

/** A connector of undici that ends connections in progress when the signal aborts. */
export function abortable(
  connect: buildConnector.connector,
  signal: AbortSignal,
): buildConnector.connector {
  return (target, callback) => {
    if (signal.aborted) {
      target.httpSocket?.destroy();
      callback(reasonOf(signal), null);
      return;
    }
    const onAbort = (): void => void socket.destroy(reasonOf(signal));
    // It returns the socket, which undici's types omit.
    const socket = connect(target, (...args) => {
      signal.removeEventListener('abort', onAbort);
      callback(...args);
    }) as unknown as Socket;
    signal.addEventListener('abort', onAbort, { once: true });
  };
}

/**
 * Waits for a step that cannot be cancelled. Ignores its outcome after the limit.
 *
 * @throws the reason of the signal, or what `late` returns
 */
export function withinLimits<T>(
  step: Promise<T>,
  { timeoutMs, signal }: ConnectLimits,
  late: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const release = (): void => {
      cancel();
      signal.removeEventListener('abort', onAbort);
    };
    const fail = (reason: unknown): void => {
      release();
      reject(reason);
    };
    const onAbort = (): void => fail(reasonOf(signal));
    const cancel = systemClock.after(timeoutMs, () => fail(late()));
    signal.addEventListener('abort', onAbort, { once: true });
    step.then((value) => {
      release();
      resolve(value);
    }, fail);
    if (signal.aborted) onAbort();
  });
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
