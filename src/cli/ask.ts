import { createInterface } from 'node:readline';
import type { Terminal } from './terminal.ts';

/** Asks questions one after the other. */
export interface Questions {
  /**
   * Asks on stderr. A line that was entered before the question counts as its answer, for example if several lines
   * were pasted.
   *
   * @returns the entered line; null at the end of the input, or when the signal has aborted
   */
  ask(question: string): Promise<string | null>;
  /** Removes all listeners. */
  close(): void;
}

/** Whether a user can answer: stdin and stderr are terminals. */
export function canAsk({ input, stderr }: Pick<Terminal, 'input' | 'stderr'>): boolean {
  return stderr.isTTY === true && input?.().isTTY === true;
}

/** @param signal ends a question that waits */
export function openQuestions(
  { input, stderr }: Pick<Terminal, 'input' | 'stderr'>,
  signal: AbortSignal,
): Questions {
  if (input === undefined || signal.aborted) return { ask: async () => null, close() {} };
  // Without an output, readline leaves the echo and Ctrl-C to the terminal.
  const reader = createInterface({ input: input(), signal });
  const lines = reader[Symbol.asyncIterator]();
  return {
    async ask(question) {
      if (signal.aborted) return null;
      stderr.write(question);
      const next = await lines.next();
      return next.done === true || signal.aborted ? null : next.value;
    },
    close: () => reader.close(),
  };
}

/** Asks a single question; see `Questions.ask`. */
export async function ask(
  terminal: Pick<Terminal, 'input' | 'stderr'>,
  question: string,
  signal: AbortSignal,
): Promise<string | null> {
  const questions = openQuestions(terminal, signal);
  try {
    return await questions.ask(question);
  } finally {
    questions.close();
  }
}
