import type { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../runtime/clock.ts';

/** A stream of the process, with what a terminal adds to it. */
export type TerminalStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

type TerminalInput = Readable & { readonly isTTY?: boolean };

/** The parts of the process that the commands use. */
export interface Terminal {
  readonly stdout: TerminalStream;
  readonly stderr: TerminalStream;
  /** Opens stdin, for commands that ask questions. Default: no questions can be asked. */
  readonly input?: () => TerminalInput;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The absolute path by which the program was started, which may be a link: see `startedAs`. */
  readonly script?: string | undefined;
  /** Emits SIGINT, SIGTERM, uncaughtException and unhandledRejection. */
  readonly signals: EventEmitter;
  readonly clock: Clock;
}

/** Exit codes, as in the README's table. */
export const EXIT = {
  ok: 0,
  /** At least one check failed, could not be run, or was missed. */
  failed: 1,
  /** The command line, a file, a variable or the machine is unusable. */
  unusable: 2,
  /** `import --strict`: something was left out. */
  incomplete: 3,
  /** `apply --dry-run --exit-code`: the service differs from the file. */
  drift: 4,
  /** A bug in this program. */
  internal: 70,
  /** As in shells: 128 plus the number of the signal. */
  interrupted: 130,
  closedOutput: 141,
  terminated: 143,
} as const;
