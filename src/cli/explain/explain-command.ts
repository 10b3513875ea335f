import { paletteFor, wantsColour } from '../print/colour.ts';
import { lineWidth } from '../print/columns.ts';
import type { OutputFormat } from '../print/output-format.ts';
import { requestService } from '../service-api/request-service.ts';
import { EXIT, type Terminal } from '../terminal.ts';
import { explainLines, jsonExplanation, plainExplanation } from './explain-text.ts';
import { type CheckExplanation, readExplanation } from './read-explanation.ts';

export interface ExplainOptions {
  readonly output: OutputFormat;
}

/**
 * Prints the settings in effect for a check and where each comes from, its next slots, and the agents
 * of its locations.
 *
 * @throws VedetteError where there is no such check, or a variable, the key or the service is unusable
 */
export function explainCommand(
  checkId: string,
  { output }: ExplainOptions,
  terminal: Terminal,
  exitNow: (exitCode: number) => void,
): Promise<number> {
  return requestService(terminal, exitNow, async ({ client, signal }) => {
    const nowMs = terminal.clock.wallMs();
    const explanation = await readExplanation(client, checkId, nowMs, signal);
    const lines = linesOf(explanation, output, nowMs, terminal);
    terminal.stdout.write(lines.map((line) => `${line}\n`).join(''));
    return EXIT.ok;
  });
}

function linesOf(
  explanation: CheckExplanation,
  output: OutputFormat,
  nowMs: number,
  { stdout, env }: Terminal,
): readonly string[] {
  if (output === 'json') return jsonExplanation(explanation);
  if (stdout.isTTY !== true) return plainExplanation(explanation);
  const palette = paletteFor(wantsColour(stdout, env));
  return explainLines(explanation, { palette, width: lineWidth(stdout), nowMs });
}
