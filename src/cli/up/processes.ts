import type { Environment } from '../../runtime/config/variable.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { prettyLine } from '../../runtime/pretty-log.ts';
import { isInTime } from '../../runtime/wait.ts';
import { wantsColour } from '../print/colour.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import type { Terminal } from '../terminal.ts';
import { Child, ChildFailed, type ChildOptions, childEndText } from './child.ts';
import type { ListeningMessage } from './parent-watch.ts';
import { Supervisor } from './supervisor.ts';

const MAX_LINE_CHARS = 2000;
/** Limits the memory if the terminal does not read. */
const MAX_WAITING_BYTES = 1024 * 1024;

export interface ProcessesOptions {
  readonly terminal: Terminal;
  /** Its abort kills all processes at once. */
  readonly now: AbortSignal;
  /** A line of stdout: only the agent writes any. */
  readonly onResult: (line: string) => void;
  readonly onAttempt: ChildOptions['onAttempt'];
}

interface Named {
  readonly name: string;
  readonly supervisor: Supervisor;
}

/** The service and the agent, each as a separate process. */
export class Processes {
  readonly #options: ProcessesOptions;
  /** In the order of their start. */
  readonly #started: Named[] = [];
  readonly #onNow = (): void => {
    for (const { supervisor } of this.#started) supervisor.kill();
  };

  constructor(options: ProcessesOptions) {
    this.#options = options;
    options.now.addEventListener('abort', this.#onNow, { once: true });
  }

  /**
   * @param envOf the environment for a port; null leaves PORT as the user set it, or its default
   * @returns the message that it sent when it listened
   * @throws ChildFailed where one of the processes ends before that; VedetteError of code
   *   INTERRUPTED if the signal aborts
   */
  async start(
    name: string,
    args: readonly string[],
    envOf: (port: number | null) => Environment,
    signal: AbortSignal,
  ): Promise<ListeningMessage> {
    const { terminal, onResult, onAttempt } = this.#options;
    const { stderr, clock } = terminal;
    const onLog = childLog(name, terminal);
    const supervisor = new Supervisor({
      start: (port) => new Child({ args, env: envOf(port), onOutput: onResult, onAttempt, onLog }),
      clock,
      onRestart(end, delayMs) {
        const why = end.lastWords === null ? '' : `: ${end.lastWords}`;
        const line = `the ${name} ended (${childEndText(end)})${why}; it is started again in ${delayMs / 1000} s`;
        stderr.write(`vedette: ${line}\n`);
      },
    });
    this.#started.push({ name, supervisor });
    const { listening } = supervisor;
    if (await this.orFailed(isInTime(listening, signal))) return await listening;
    throw new VedetteError('environment', 'INTERRUPTED', 'it was stopped');
  }

  /** Settles like the promise, or rejects with ChildFailed if a process fails before. */
  orFailed<T>(promise: Promise<T>): Promise<T> {
    const failures = this.#started.map(async ({ name, supervisor }) => {
      throw new ChildFailed(name, await supervisor.failed);
    });
    return Promise.race([promise, ...failures]);
  }

  /** To be called when all processes are ready: a process that ends from now on is restarted. */
  keep(): void {
    for (const { supervisor } of this.#started) supervisor.keepRunning();
  }

  /** Stops the processes, the last one first: the agent delivers its remaining results to the service. */
  async end(): Promise<void> {
    for (const { supervisor } of this.#started.toReversed()) await supervisor.end();
    this.#options.now.removeEventListener('abort', this.#onNow);
  }
}

/** Prints the log of a process, each line with the name of the process. */
function childLog(
  name: string,
  { stderr, env }: Pick<Terminal, 'stderr' | 'env'>,
): (line: string) => void {
  const colour = wantsColour(stderr, env);
  return (line) => {
    if (!stderr.writable || stderr.writableLength > MAX_WAITING_BYTES) return;
    const record = recordIn(line);
    stderr.write(
      record === null
        ? `${name}: ${terminalSafe(line, MAX_LINE_CHARS)}\n`
        : prettyLine(JSON.stringify({ ...record, process: name }), colour),
    );
  };
}

function recordIn(line: string): object | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'level' in value ? value : null;
  } catch {
    return null;
  }
}
