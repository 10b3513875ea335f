import { paletteFor, wantsColour } from '../print/colour.ts';
import { cutToFit, lineWidth } from '../print/columns.ts';
import type { OutputFormat } from '../print/output-format.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import { timeOfDay } from '../print/time-text.ts';
import type { Terminal } from '../terminal.ts';
import type { Board } from './board.ts';
import { boardLines, jsonLines, plainLines } from './board-text.ts';

/** ECMA-48 8.3.57 (CUP), 8.3.39 (ED) and 8.3.41 (EL). */
const HOME = '\u001b[H';
const CLEAR_SCREEN = `${HOME}\u001b[2J`;
const CLEAR_BELOW = '\u001b[J';
const CLEAR_LINE = '\u001b[K';
/** Used for a terminal of unknown height. */
const DEFAULT_ROWS = 24;
const MAX_TROUBLE_CHARS = 500;

/** Prints boards on stdout in the given format, on terminals and elsewhere. */
export class BoardPrinter {
  readonly #terminal: Terminal;
  readonly #format: OutputFormat;
  #isDrawn: boolean = false;
  /** The text that was printed last; null if nothing was printed yet. */
  #last: string | null = null;

  constructor(terminal: Terminal, format: OutputFormat) {
    this.#terminal = terminal;
    this.#format = format;
  }

  get #isTerminal(): boolean {
    return this.#format === 'pretty' && this.#terminal.stdout.isTTY === true;
  }

  print(board: Board): void {
    this.#write(this.#linesOf(board));
  }

  /**
   * Draws the board over the last one if the terminal supports it, with the time below. Otherwise prints it after an
   * empty line if it has changed.
   *
   * @param trouble why the board is not current; null if it is
   */
  redraw(board: Board, trouble: string | null): void {
    const lines = this.#linesOf(board);
    // A dumb terminal cannot move its cursor.
    if (this.#isTerminal && this.#terminal.env.TERM !== 'dumb') this.#draw(lines, trouble);
    else this.#printChanged(lines, trouble);
  }

  #linesOf(board: Board): readonly string[] {
    if (this.#format === 'json') return jsonLines(board);
    const { stdout, env, clock } = this.#terminal;
    if (stdout.isTTY !== true) return plainLines(board);
    return boardLines(board, {
      palette: paletteFor(wantsColour(stdout, env)),
      width: lineWidth(stdout),
      nowMs: clock.wallMs(),
    });
  }

  #draw(lines: readonly string[], trouble: string | null): void {
    const { stdout, env, clock } = this.#terminal;
    const { faint, warning } = paletteFor(wantsColour(stdout, env));
    const { rows = 0 } = stdout;
    const height = (rows > 0 ? rows : DEFAULT_ROWS) - 1;
    const foot =
      trouble === null
        ? faint(cutToFit(`as of ${timeOfDay(clock.wallMs())}; Ctrl-C ends it`, lineWidth(stdout)))
        : warning(cutToFit(troubleText(trouble), lineWidth(stdout)));
    const shown = [...fittingRows(lines, height - 2), '', foot];
    const start = this.#isDrawn ? HOME : CLEAR_SCREEN;
    this.#isDrawn = true;
    stdout.write(`${start}${shown.map((line) => `${CLEAR_LINE}${line}\n`).join('')}${CLEAR_BELOW}`);
  }

  #printChanged(lines: readonly string[], trouble: string | null): void {
    const { stdout, stderr } = this.#terminal;
    if (trouble !== null) {
      stderr.write(`vedette: ${troubleText(trouble)}\n`);
      return;
    }
    const text = lines.join('\n');
    if (text === this.#last) return;
    const isFirst = this.#last === null || this.#last === '';
    if (!isFirst && this.#format === 'pretty') stdout.write('\n');
    this.#last = text;
    this.#write(lines);
  }

  #write(lines: readonly string[]): void {
    this.#terminal.stdout.write(lines.map((line) => `${line}\n`).join(''));
  }
}

function troubleText(trouble: string): string {
  return `not current: ${terminalSafe(trouble, MAX_TROUBLE_CHARS)}`;
}

/** Returns as many lines as fit; the last one shows how many do not. */
function fittingRows(lines: readonly string[], height: number): readonly string[] {
  if (lines.length <= height) return lines;
  const kept = lines.slice(0, Math.max(0, height - 1));
  return [...kept, `and ${lines.length - kept.length} more lines`];
}
