import { type Interruption, watchForInterruption } from '../interruption.ts';
import type { Terminal } from '../terminal.ts';
import { createTerminalLog } from '../terminal-log.ts';
import { ApiClient, isInterrupted, waitPrinter } from './api-client.ts';
import { loadConnection } from './connection.ts';

export interface RequestContext {
  readonly client: ApiClient;
  readonly interruption: Interruption;
  /** Aborts when the command is interrupted. */
  readonly signal: AbortSignal;
}

export interface RequestOptions {
  /** Whether waits that the service requests are printed on stderr. Default: true. */
  readonly printsWaits?: boolean;
  /** The purpose of the key. Default: read. */
  readonly use?: 'read' | 'run' | 'location';
}

/**
 * Runs a command that sends requests to the service that the environment names.
 *
 * @param run returns the exit code
 * @returns the exit code of `run`, or of the interruption
 * @throws VedetteError where a variable, the key or the service is unusable
 */
export async function requestService(
  terminal: Terminal,
  exitNow: (exitCode: number) => void,
  run: (context: RequestContext) => Promise<number>,
  { printsWaits = true, use = 'read' }: RequestOptions = {},
): Promise<number> {
  const connection = loadConnection(terminal.env, use);
  const log = createTerminalLog(terminal, 'error');
  const interruption = watchForInterruption(terminal, log, exitNow);
  const onWait = printsWaits ? waitPrinter(terminal) : () => {};
  const client = new ApiClient({ ...connection, clock: terminal.clock, onWait });
  try {
    return await run({ client, interruption, signal: interruption.signal });
  } catch (thrown) {
    if (isInterrupted(thrown) && interruption.exitCode !== null) return interruption.exitCode;
    throw thrown;
  } finally {
    interruption.dispose();
    await client.close();
  }
}
