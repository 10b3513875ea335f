import type { Terminal } from '../terminal.ts';

/** Set by `vedette up` for what it starts. */
export const SUPERVISED = 'VEDETTE_SUPERVISED';

/** The message that a supervised process sends once: the port that it listens on. */
export interface ListeningMessage {
  readonly listening: number;
}

/** The side of `process` that an IPC channel is of. */
export type ParentChannel = Pick<NodeJS.Process, 'connected' | 'on'> & {
  readonly channel?: { unref(): void } | undefined;
  send?: (message: ListeningMessage, done: () => void) => boolean;
};

/** After the supervisor has gone nobody waits for a long drain: results are on disk already. */
const CUT_SHORT_MS = 5_000;
const EXIT_MS = 15_000;
/** As a process that SIGTERM ended. */
const EXIT_CODE = 143;

export interface ParentWatch {
  listening(port: number): void;
}

/**
 * For a process that `vedette up` started: ends it when `up` has gone, however that ended, since
 * the system then closes the channel between the two. Does nothing where nobody supervises.
 *
 * @param exitNow ends this process, whatever still goes on in it
 */
export function watchParent(
  { env, signals, clock }: Pick<Terminal, 'env' | 'signals' | 'clock'>,
  exitNow: (exitCode: number) => void,
  channel: ParentChannel = process,
): ParentWatch {
  if (env[SUPERVISED] !== '1' || channel.send === undefined) return { listening() {} };
  const stop = (): void => {
    // Before anybody listens for signals there is nothing to drain.
    if (signals.listenerCount('SIGTERM') > 0) signals.emit('SIGTERM');
    else exitNow(EXIT_CODE);
  };
  const onGone = (): void => {
    stop();
    clock.after(CUT_SHORT_MS, stop);
    clock.after(EXIT_MS, () => exitNow(EXIT_CODE));
  };
  if (channel.connected) {
    channel.on('disconnect', onGone);
    // With a listener it would keep this process alive when all else in it has ended.
    channel.channel?.unref();
  } else onGone();
  return {
    listening(port) {
      // A channel that closed meanwhile has been noticed above.
      if (channel.connected) channel.send?.({ listening: port }, () => {});
    },
  };
}
