import { paletteFor, wantsColour } from '../print/colour.ts';
import { lineWidth } from '../print/columns.ts';
import type { OutputFormat } from '../print/output-format.ts';
import { requestService } from '../service-api/request-service.ts';
import { EXIT, type Terminal } from '../terminal.ts';
import { historyLines, jsonHistory, plainHistory } from './history-text.ts';
import { type History, readHistory } from './read-history.ts';

export interface HistoryOptions {
  /** How many runs at most, 1 to 100. */
  readonly limit: number;
  readonly output: OutputFormat;
}

/**
 * Prints the last runs of a check, the newest first.
 *
 * @throws VedetteError where there is no such check, or a variable, the key or the service is unusable
 */
export function historyCommand(
  checkId: string,
  { limit, output }: HistoryOptions,
  terminal: Terminal,
  exitNow: (exitCode: number) => void,
): Promise<number> {
  return requestService(terminal, exitNow, async ({ client, signal }) => {
    const history = await readHistory(client, checkId, limit, signal);
    const lines = linesOf(history, output, terminal);
    terminal.stdout.write(lines.map((line) => `${line}\n`).join(''));
    return EXIT.ok;
  });
}

function linesOf(
  history: History,
  output: OutputFormat,
  { stdout, env, clock }: Terminal,
): readonly string[] {
  if (output === 'json') return jsonHistory(history);
  if (stdout.isTTY !== true) return plainHistory(history);
  const palette = paletteFor(wantsColour(stdout, env));
  return historyLines(history, { palette, width: lineWidth(stdout), nowMs: clock.wallMs() });
}
