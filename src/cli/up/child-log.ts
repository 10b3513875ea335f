import { prettyLine } from '../../runtime/pretty-log.ts';
import { wantsColour } from '../print/colour.ts';
import { harmless } from '../print/harmless.ts';
import type { Terminal } from '../terminal.ts';

const MAX_LINE_CHARS = 2000;
/** Bounds the memory where the terminal does not read. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Passes the log of a process on to people, each line with the name of whose it is. */
export function childLog(
  name: string,
  { stderr, env }: Pick<Terminal, 'stderr' | 'env'>,
): (line: string) => void {
  const colour = wantsColour(stderr, env);
  return (line) => {
    if (!stderr.writable || stderr.writableLength > MAX_WAITING_BYTES) return;
    const record = recordIn(line);
    stderr.write(
      record === null
        ? `${name}: ${harmless(line, MAX_LINE_CHARS)}\n`
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
