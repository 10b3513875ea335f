import { createInterface } from 'node:readline';
import type { Terminal } from './terminal.ts';

/** Whether somebody can answer: stdin and stderr, where the question is, are terminals. */
export function canAsk({ input, stderr }: Pick<Terminal, 'input' | 'stderr'>): boolean {
  return stderr.isTTY === true && input?.().isTTY === true;
}

/**
 * Asks on stderr.
 *
 * @returns the line that was typed; null at the end of the input, or when the signal aborts
 */
export async function ask(
  { input, stderr }: Pick<Terminal, 'input' | 'stderr'>,
  question: string,
  signal: AbortSignal,
): Promise<string | null> {
  if (input === undefined || signal.aborted) return null;
  stderr.write(question);
  // Without an output, readline leaves the echo and Ctrl-C to the terminal.
  const lines = createInterface({ input: input() });
  try {
    return await new Promise<string | null>((resolve) => {
      lines.once('line', resolve);
      lines.once('close', () => resolve(null));
      signal.addEventListener('abort', () => resolve(null), { once: true });
    });
  } finally {
    lines.close();
  }
}
