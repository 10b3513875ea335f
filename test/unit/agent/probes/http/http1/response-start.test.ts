import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ResponseStart } from '../../../../../../src/agent/probes/http/http1/response-start.ts';
import { NOT_SCRUBBED } from '../../../../../../src/agent/secrets/cut-scrubbed.ts';

const FINAL = 'HTTP/1.1 200 OK\r\nX: 1\r\n\r\nbody\r\n\r\nHTTP/1.1 103 no head\r\n\r\n';

interface Seen {
  readonly passed: string;
  readonly firstBytes: number;
  readonly start: ResponseStart;
}

function feed(chunks: readonly string[], maxInterimBytes = 1000): Seen {
  let firstBytes = 0;
  const onFirstByte = (): void => {
    firstBytes += 1;
  };
  const start = new ResponseStart(onFirstByte, maxInterimBytes, NOT_SCRUBBED);
  const passed = chunks
    .map((chunk) => start.take(Buffer.from(chunk, 'latin1'))?.toString('latin1') ?? '')
    .join('');
  return { passed, firstBytes, start };
}

/** The text in pieces of the given lengths, and the rest. */
function pieces(text: string, lengths: readonly number[]): string[] {
  const cut: string[] = [];
  let at = 0;
  for (const length of lengths) {
    cut.push(text.slice(at, at + length));
    at += length;
  }
  return [...cut, text.slice(at)].filter((piece) => piece !== '');
}

test('interim responses are dropped and all other bytes pass, however they are segmented', () => {
  const interim = fc.constantFrom(
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nLink: </b>\r\n\r\n',
    'HTTP/1.0 102 P\r\n\r\n',
  );
  const lengths = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 60 });
  fc.assert(
    fc.property(fc.array(interim, { maxLength: 4 }), lengths, (interims, cuts) => {
      const { passed, firstBytes, start } = feed(pieces(interims.join('') + FINAL, cuts));
      expect(passed).toBe(FINAL);
      expect(firstBytes).toBe(interims.length + 1);
      expect(start.passing).toBe(true);
    }),
  );
});

test.each([
  ['HTTP/1.0 200 OK\r\n\r\n', '1.0'],
  ['HTTP/1.1 200 OK\r\n\r\n', '1.1'],
  ['nonsense', '1.1'],
] as const)('%j is of version %s', (text, version) => {
  expect(feed([...text]).start.version).toBe(version);
});

test.each([
  ['SSH-2.0-x\r\n', '"SSH-2.0-x\\r\\n"'],
  ['RTSP/1.0 200 OK\r\n', '"RTSP/1.0 200 OK\\r\\n"'],
  ['\x15\x03\x01\xff', '"\\u0015\\u0003\\u0001?"'],
  ['HTTQ'.padEnd(100, '.'), `"${'HTTQ'.padEnd(40, '.')}…"`],
])('%j is not HTTP: nothing of it passes, and its start is reported', (text, told) => {
  const { passed, start } = feed([text, 'more']);
  expect(passed).toBe('');
  expect(start).toMatchObject({ foreign: told, passing: false });
});

test.each(['HTTP/2 200\r\n', '\r\n', 'HTTP/1.1 101 Switching Protocols\r\n'])(
  '%j is passed to the parser',
  (text) => {
    expect(feed([text]).passed).toBe(text);
    expect(feed([...text]).passed).toBe(text);
    expect(feed([text]).start.foreign).toBeNull();
  },
);

test('interim responses have a common limit, and nothing passes beyond it', () => {
  const interim = `HTTP/1.1 103 Early Hints\r\nX: ${'x'.repeat(100)}\r\n\r\n`;
  const { passed, start } = feed([interim, interim, FINAL], interim.length * 2 - 1);
  expect(start.overflowed).toBe(true);
  expect(start.passing).toBe(false);
  expect(passed).toBe('');
  expect(feed([interim, interim, FINAL], interim.length * 2).passed).toBe(FINAL);
});
