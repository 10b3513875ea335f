import type { OutputFormat } from '../print/output-format.ts';
import { requestService } from '../service-api/request-service.ts';
import { EXIT, type Terminal } from '../terminal.ts';
import { type Board, readBoard } from './board.ts';
import { BoardPrinter } from './board-printer.ts';
import { watchBoard } from './watch.ts';

export interface StatusOptions {
  /** Lists only failing checks. */
  readonly down: boolean;
  /** Updates the output after each change until a signal ends the command. */
  readonly watch: boolean;
  readonly output: OutputFormat;
}

/** The exit codes of signals with which users end `--watch`. */
const ENDED_BY_SIGNAL: ReadonlySet<number | null> = new Set([EXIT.interrupted, EXIT.terminated]);

/**
 * Prints which checks are down at the service, since when, why and in which locations.
 *
 * @returns EXIT.failed where a check is failing, else EXIT.ok; with `watch` EXIT.ok after a signal
 * @throws VedetteError where a variable, the key or the service is unusable
 */
export function statusCommand(
  { down, watch, output }: StatusOptions,
  terminal: Terminal,
  exitNow: (exitCode: number) => void,
): Promise<number> {
  const printer = new BoardPrinter(terminal, output);
  return requestService(
    terminal,
    exitNow,
    async ({ client, interruption, signal }) => {
      const read = (ended: AbortSignal): Promise<Board> => readBoard(client, down, ended);
      if (watch) {
        const show = (board: Board, trouble: string | null): void => printer.redraw(board, trouble);
        await watchBoard({ client, clock: terminal.clock, read, show }, signal);
        const { exitCode } = interruption;
        return exitCode === null || ENDED_BY_SIGNAL.has(exitCode) ? EXIT.ok : exitCode;
      }
      const board = await read(signal);
      printer.print(board);
      return board.counts.failing > 0 ? EXIT.failed : EXIT.ok;
    },
    // Lines about waits would be overwritten.
    { printsWaits: !watch },
  );
}
