import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../runtime/config/variable.ts';
import { LineSplitter } from './line-splitter.ts';
import type { ListeningMessage } from './parent-watch.ts';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
/** A result has a stored body of 50 KB at most, and a few of them. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
/** How a command reports the error that ended it: see reportError. */
const LAST_WORDS = 'vedette: ';

export interface ChildOptions {
  /** The arguments after `vedette`. */
  readonly args: readonly string[];
  readonly env: Environment;
  readonly onOutput: (line: string) => void;
  /** Every line of its stderr except the error that ended it. */
  readonly onLog: (line: string) => void;
}

/** How a process ended. */
export interface ChildEnd {
  /** Null where a signal ended it, or it could not be started. */
  readonly code: number | null;
  readonly signal: string | null;
  /** The error that it reported; null where it reported none. */
  readonly lastWords: string | null;
}

/** A process of our own program, with a channel by which it notices when we are gone. */
export class Child {
  /** The port that it listens on. Never rejects; where it ends before, this stays open. */
  readonly listening: Promise<number>;
  /** Never rejects. */
  readonly ended: Promise<ChildEnd>;
  readonly #process: ChildProcess;

  constructor({ args, env, onOutput, onLog }: ChildOptions) {
    let lastWords: string | null = null;
    // A process group of its own: Ctrl-C reaches only `up`, which stops each child in order.
    const child = spawn(process.execPath, [...process.execArgv, MAIN, ...args], {
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#process = child;
    const out = new LineSplitter(MAX_LINE_BYTES, onOutput);
    const log = new LineSplitter(MAX_LINE_BYTES, (line) => {
      if (line.startsWith(LAST_WORDS)) lastWords = line.slice(LAST_WORDS.length);
      else onLog(line);
    });
    child.stdout?.on('data', (chunk: Buffer) => out.write(chunk));
    child.stderr?.on('data', (chunk: Buffer) => log.write(chunk));
    this.listening = new Promise((resolve) => {
      child.on('message', (message) => {
        if (isListening(message)) resolve(message.listening);
      });
    });
    this.ended = new Promise((resolve) => {
      child.once('error', (error) =>
        resolve({ code: null, signal: null, lastWords: error.message }),
      );
      // Not `exit`: what it wrote last may still be under way by then.
      child.once('close', (code, signal) => {
        out.end();
        log.end();
        resolve({ code, signal, lastWords });
      });
    });
  }

  /** Lets it come to its end. */
  stop(): void {
    this.#process.kill('SIGTERM');
  }

  /** Ends it at once. */
  kill(): void {
    this.#process.kill('SIGKILL');
  }
}

function isListening(message: unknown): message is ListeningMessage {
  return (
    typeof message === 'object' &&
    message !== null &&
    'listening' in message &&
    typeof message.listening === 'number'
  );
}
