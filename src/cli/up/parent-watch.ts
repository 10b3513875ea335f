import type { NotificationAttempt } from '../../model/alerting/notification-attempt.ts';
import type { OwnersLinks } from '../../service/users/owners-links.ts';
import type { Terminal } from '../terminal.ts';

/** The variable that `vedette up` sets for the processes that it starts. */
export const SUPERVISED = 'VEDETTE_SUPERVISED';

/** The message that a supervised process sends once. */
export interface ListeningMessage {
  /** The port that it listens on. */
  readonly listening: number;
  /** Secret links: see OwnersLinks in src/service/users/owners-links.ts. */
  readonly links?: OwnersLinks;
}

/** The message of the service for each attempt to send a notification. */
export interface AttemptMessage {
  readonly attempt: NotificationAttempt;
}

/** The part of `process` that concerns its IPC channel. */
export type ParentChannel = Pick<NodeJS.Process, 'connected' | 'on'> & {
  readonly channel?: { unref(): void } | undefined;
  send?: (message: ListeningMessage | AttemptMessage, done: () => void) => boolean;
};

/** The longest drain after the supervisor has exited: results are on disk already. */
const CUT_SHORT_MS = 5_000;
const EXIT_MS = 15_000;
/** The exit code of a process that SIGTERM ended. */
const EXIT_CODE = 143;

export interface ParentWatch {
  /** Whether `vedette up` started this process and prints its messages. */
  readonly isSupervised: boolean;
  readonly listening: (port: number, links?: OwnersLinks) => void;
  readonly attempted: (attempt: NotificationAttempt) => void;
}

/**
 * Ends a process that `vedette up` started when `up` has exited for any reason: the system then
 * closes the channel between the two. Does nothing in an unsupervised process.
 *
 * @param exitNow ends this process at once, even while work is going on
 */
export function watchParent(
  { env, signals, clock }: Pick<Terminal, 'env' | 'signals' | 'clock'>,
  exitNow: (exitCode: number) => void,
  channel: ParentChannel = process,
): ParentWatch {
  if (env[SUPERVISED] !== '1' || channel.send === undefined)
    return { isSupervised: false, listening() {}, attempted() {} };
  const stop = (): void => {
    // Before the first signal handler there is nothing to drain.
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
    // The listener alone must not prevent this process from exiting.
    channel.channel?.unref();
  } else onGone();
  return {
    isSupervised: true,
    listening(port, links) {
      const message = links === undefined ? { listening: port } : { listening: port, links };
      // `onGone` handles a channel that closed meanwhile.
      if (channel.connected) channel.send?.(message, () => {});
    },
    attempted(attempt) {
      if (channel.connected) channel.send?.({ attempt }, () => {});
    },
  };
}
