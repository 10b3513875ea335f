import { PassThrough } from 'node:stream';
import { createLogger, type Logger } from '../../src/runtime/logger.ts';

export interface LogCapture {
  readonly log: Logger;
  /** The records so far, oldest first. */
  records(): Record<string, unknown>[];
}

/** A real logger that writes to memory. */
export function captureLog(): LogCapture {
  const destination = new PassThrough();
  let text = '';
  destination.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return {
    log: createLogger({ level: 'trace', destination, format: 'json' }),
    records: () =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  };
}
