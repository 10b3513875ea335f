import type { ArtifactError } from './errors.ts';

export type Guarded = <T>(doing: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/**
 * Gives a store's methods the errors that the port promises: the signal's reason where it aborted,
 * else an ArtifactError.
 */
export function guardedBy(toError: (thrown: unknown, doing: string) => ArtifactError): Guarded {
  return async (doing, signal, work) => {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      throw toError(error, doing);
    }
  };
}
