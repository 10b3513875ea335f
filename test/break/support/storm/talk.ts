import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';

/** A child process with its stdin and stdout. */
export interface Talking {
  readonly stdin: Writable;
  readonly stdout: Readable;
  once(event: 'close', listener: () => void): unknown;
}

/** A helper process that answers each line with one line, and ends with its input. */
export function talkTo(child: Talking) {
  const ended = new Promise<void>((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.stdin.end();
    await ended;
  });
  const lines = createInterface({ input: child.stdout });
  const heard = async (): Promise<string> => {
    const [line] = (await once(lines, 'line')) as [string];
    return line;
  };
  return {
    heard,
    say(line: string): Promise<string> {
      const answer = heard();
      child.stdin.write(`${line}\n`);
      return answer;
    },
  };
}
