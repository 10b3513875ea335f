import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../runtime/config/variable.ts';
import { LineSplitter } from '../line-splitter.ts';
import { EXIT } from '../terminal.ts';
import type { AttemptMessage, ListeningMessage } from './parent-watch.ts';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
/** A result has a few stored bodies of 50 KB at most. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
/** How a command reports the error that ended it: see reportError. */
const LAST_WORDS = 'vedette: ';

export interface ChildOptions {
  /** The arguments after `vedette`. */
  readonly args: readonly string[];
  readonly env: Environment;
  readonly onOutput: (line: string) => void;
  /** Called with the outcome of each attempt to send a notification. Only the service sends notifications. */
  readonly onAttempt: (attempt: AttemptMessage['attempt']) => void;
  /** Called with every line of its stderr except the error that ended it. */
  readonly onLog: (line: string) => void;
}

/** How a process ended. */
export interface ChildEnd {
  /** Null if a signal ended it, or it could not be started. */
  readonly code: number | null;
  readonly signal: string | null;
  /** The error that it reported; null if it reported none. */
  readonly lastWords: string | null;
}

/** How a process ended, in a few words. */
export function childEndText({ code, signal }: ChildEnd): string {
  if (signal !== null) return `by ${signal}`;
  return code === null ? 'it could not be started' : `exit code ${code}`;
}

/** A process that ended before all processes were ready. Its message is one line for people. */
export class ChildFailed extends Error {
  readonly exitCode: number;

  constructor(name: string, end: ChildEnd) {
    super(end.lastWords ?? `the ${name} ended early (${childEndText(end)})`);
    this.name = 'ChildFailed';
    this.exitCode = end.code === null || end.code === EXIT.ok ? EXIT.internal : end.code;
  }
}

/** A process of Vedette, with an IPC channel by which it notices the exit of this process. */
export class Child {
  /** Never rejects; stays pending if the process ends before it listens. */
  readonly listening: Promise<ListeningMessage>;
  /** Never rejects. */
  readonly ended: Promise<ChildEnd>;
  readonly #process: ChildProcess;

  constructor({ args, env, onOutput, onAttempt, onLog }: ChildOptions) {
    let lastWords: string | null = null;
    // It has its own process group: Ctrl-C reaches only `up`, which stops each child in order.
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
    child.on('message', (message) => {
      if (isAttempt(message)) onAttempt(message.attempt);
    });
    this.listening = new Promise((resolve) => {
      child.on('message', (message) => {
        if (isListening(message)) resolve(message);
      });
    });
    this.ended = new Promise((resolve) => {
      child.once('error', (error) =>
        resolve({ code: null, signal: null, lastWords: error.message }),
      );
      // Not `exit`: its last output may come after that.
      child.once('close', (code, signal) => {
        out.end();
        log.end();
        resolve({ code, signal, lastWords });
      });
    });
  }

  /** Sends it SIGTERM. */
  stop(): void {
    this.#process.kill('SIGTERM');
  }

  /** Sends it SIGKILL. */
  kill(): void {
    this.#process.kill('SIGKILL');
  }
}

function isAttempt(message: unknown): message is AttemptMessage {
  return typeof message === 'object' && message !== null && 'attempt' in message;
}

function isListening(message: unknown): message is ListeningMessage {
  return (
    typeof message === 'object' &&
    message !== null &&
    'listening' in message &&
    typeof message.listening === 'number'
  );
}
