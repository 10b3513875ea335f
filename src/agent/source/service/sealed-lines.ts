import { hkdfSync } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { VedetteError } from '../../../runtime/errors.ts';
import { createSecretBox, KEY_BYTES, type SecretBox } from '../../../runtime/secret-box.ts';

const FORMAT = 2;
/** The only line that is not sealed. */
const HEADER = JSON.stringify({ format: FORMAT });
const PURPOSE = 'vedette assignments';

/** Yields to the event loop after this many lines, or this much text: checks run meanwhile. */
const LINES_PER_YIELD = 100;
const CHARS_PER_YIELD = 256 * 1024;
const READ_BYTES = 256 * 1024;
/** A check with its longest body, escaped, sealed and in base64, is shorter. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** A box that only the location key opens (HKDF: RFC 5869). */
export function assignmentsBox(locationKey: string): SecretBox {
  const key = hkdfSync('sha256', locationKey, '', PURPOSE, KEY_BYTES);
  return createSecretBox([Buffer.from(key)]);
}

/**
 * The text of a file with each line sealed and bound to its line number. Takes the lines one by one
 * and yields to the event loop.
 */
export async function* seal(lines: Iterable<string>, box: SecretBox): AsyncGenerator<string> {
  yield `${HEADER}\n`;
  let waiting: string[] = [];
  let chars = 0;
  let number = 0;
  for (const line of lines) {
    waiting.push(`${box.seal(line, sealingContextOf(number)).toString('base64')}\n`);
    number += 1;
    chars += line.length;
    if (waiting.length < LINES_PER_YIELD && chars < CHARS_PER_YIELD) continue;
    yield waiting.join('');
    waiting = [];
    chars = 0;
    await yieldToEventLoop();
  }
  yield waiting.join('');
}

/**
 * The lines of such a file. The caller must check whether lines are missing at the end.
 *
 * @throws VedetteError of code ASSIGNMENTS_OF_OTHER_KEY if another key sealed it,
 *   ASSIGNMENTS_DAMAGED if it is damaged; the system's error if it cannot be read
 */
export async function* unseal(file: string, box: SecretBox): AsyncGenerator<string> {
  let number = -1;
  for await (const line of linesOf(file)) {
    if (number < 0) {
      if (line.toString('utf8') !== HEADER) {
        throw damaged('it is not of the form that this release writes');
      }
    } else {
      yield open(line, number, box);
    }
    number += 1;
    if (number % LINES_PER_YIELD === 0) await yieldToEventLoop();
  }
}

function open(line: Buffer, number: number, box: SecretBox): string {
  const sealed = Buffer.from(line.toString('latin1'), 'base64');
  if (number === 0 && !box.hasKeyOf(sealed)) {
    const message = 'the file was sealed with another key';
    throw new VedetteError('input', 'ASSIGNMENTS_OF_OTHER_KEY', message);
  }
  try {
    return box.open(sealed, sealingContextOf(number));
  } catch {
    throw damaged(`line ${number + 2} is not as it was written`);
  }
}

/** The lines of a file without their line feeds. */
async function* linesOf(file: string): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  let begunBytes = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: READ_BYTES })) {
    const bytes: Buffer = chunk;
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(LINE_FEED, from);
      const piece = bytes.subarray(from, end === -1 ? bytes.length : end);
      begun.push(piece);
      begunBytes += piece.length;
      if (begunBytes > MAX_LINE_BYTES) {
        throw damaged(`a line of it is longer than ${MAX_LINE_BYTES} bytes`);
      }
      if (end === -1) break;
      yield Buffer.concat(begun);
      begun = [];
      begunBytes = 0;
      from = end + 1;
    }
  }
  if (begunBytes > 0) yield Buffer.concat(begun);
}

export function damaged(message: string): VedetteError {
  return new VedetteError('input', 'ASSIGNMENTS_DAMAGED', message);
}

/** Binds a line to its number: a moved line cannot be opened. */
function sealingContextOf(number: number): readonly string[] {
  return ['assignments', String(number)];
}
