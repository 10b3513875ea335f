import { EventEmitter } from 'node:events';
import { Readable, Writable } from 'node:stream';
import type { Terminal, TerminalStream } from '../../../src/cli/terminal.ts';
import { FakeClock } from '../fake-clock.ts';

/** A stream that stores its output. */
interface KeepingStream {
  readonly stream: TerminalStream;
  text(): string;
}

function keepingStream(extras: { isTTY?: boolean; columns?: number } = {}): KeepingStream {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk.toString());
      done();
    },
  });
  return { stream: Object.assign(stream, extras), text: () => chunks.join('') };
}

/**
 * A terminal with streams in memory.
 *
 * @param typed what somebody types; left out, there is no input
 */
export function memoryTerminal(
  extras: { isTTY?: boolean; columns?: number } = {},
  typed: string | null = null,
) {
  const stdout = keepingStream(extras);
  const stderr = keepingStream(extras);
  const terminal: Terminal = {
    stdout: stdout.stream,
    stderr: stderr.stream,
    ...(typed === null ? {} : { input: () => Object.assign(Readable.from([typed]), extras) }),
    env: { NO_COLOR: '1' },
    signals: new EventEmitter(),
    clock: new FakeClock(),
  };
  return { terminal, stdout: () => stdout.text(), stderr: () => stderr.text() };
}
