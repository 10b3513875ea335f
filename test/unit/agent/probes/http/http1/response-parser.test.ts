import { describe, expect, test } from 'vitest';
import { parserMemoryBytes } from '../../../../../../src/agent/probes/http/http1/llhttp.ts';
import {
  type ParsedHead,
  type ParseError,
  ResponseParser,
} from '../../../../../../src/agent/probes/http/http1/response-parser.ts';

interface Seen {
  head: ParsedHead | null;
  body: string;
  ended: boolean;
  error: ParseError | null;
  finished: ParseError | boolean | null;
}

const MAX_HEADER_BYTES = 1024;

/**
 * The result of the pieces in order, and of the end of the connection if it is not complete then.
 */
function read(pieces: readonly string[], method = 'GET'): Seen {
  const seen: Seen = { head: null, body: '', ended: false, error: null, finished: null };
  const parser = new ResponseParser(method, MAX_HEADER_BYTES, {
    head: (head) => {
      seen.head = head;
    },
    data: (piece) => {
      seen.body += piece.toString('latin1');
    },
    end: () => {
      seen.ended = true;
    },
  });
  for (const piece of pieces) seen.error ??= parser.execute(Buffer.from(piece, 'latin1'));
  if (!seen.ended && seen.error === null) seen.finished = parser.finish();
  parser.free();
  return seen;
}

const RESPONSE =
  'HTTP/1.1 200 All r\xc3\xafght\r\nX-One: a\r\nEmpty:\r\nx-one:  b \r\nSet-Cookie: c=\xe9\r\n__proto__: d\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\nX-Trailer: t\r\n\r\nHTTP/1.1 500 No\r\n\r\n';

describe('a response', () => {
  test('is parsed with its fields and body, without the bytes behind it', () => {
    const { head, body, ended, error } = read([RESPONSE]);
    expect(error).toBeNull();
    expect(ended).toBe(true);
    expect(body).toBe('abcde');
    expect(head).toMatchObject({ status: 200, statusText: 'All rïght' });
    expect([...(head?.headers ?? [])]).toEqual([
      ['x-one', ['a', 'b']],
      ['empty', ''],
      ['set-cookie', 'c=\xe9'],
      ['__proto__', 'd'],
      ['transfer-encoding', 'chunked'],
    ]);
  });

  test.each([
    ['UTF-8', 'p\xc3\xa4ss', 'päss'],
    ['Latin-1', 'p\xe4ss', 'päss'],
    ['UTF-8 and Latin-1', 'p\xc3\xa4ss \xe4', 'p\xc3\xa4ss ä'],
  ])('has a reason phrase in %s, without replaced characters', (_, sent, statusText) => {
    const { head } = read([`HTTP/1.1 200 ${sent}\r\nContent-Length: 0\r\n\r\n`]);
    expect(head?.statusText).toBe(statusText);
  });

  test('is the same however it is segmented', () => {
    const whole = read([RESPONSE]);
    expect(read([...RESPONSE])).toEqual(whole);
    for (let at = 1; at < RESPONSE.length; at += 1) {
      expect(read([RESPONSE.slice(0, at), RESPONSE.slice(at)])).toEqual(whole);
    }
  });

  test('may be larger than the window of the parser', () => {
    const long = 'x'.repeat(200_000);
    const seen = read([`HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n${long}`]);
    expect(seen).toMatchObject({ ended: true, error: null });
    expect(seen.body).toBe(long);
  });

  test('to HEAD has no body, whatever its head says', () => {
    const text = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n';
    expect(read([text], 'HEAD')).toMatchObject({ ended: true, body: '' });
    expect(read([text], 'GET')).toMatchObject({ ended: false, finished: false });
  });
});

describe('the end of the connection', () => {
  test('ends a body that has no other end', () => {
    const seen = read(['HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc']);
    expect(seen).toMatchObject({ body: 'abc', finished: true, ended: true });
  });

  test.each([
    [
      'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nabc',
      'WRONG_CONTENT_LENGTH',
    ],
    [
      'HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
      'HPE_INVALID_EOF_STATE',
    ],
  ])('inside a body is reported as %j', (text, code) => {
    expect(read([text]).finished).toMatchObject({ code });
  });

  test.each(['', 'HTTP/1.1 2', 'HTTP/1.1 200 OK\r\nX-One: a\r\n'])(
    'does not complete the response %j',
    (text) => {
      expect(read([text])).toMatchObject({ finished: false, error: null, ended: false });
    },
  );
});

describe('bytes that are not a response are reported', () => {
  test.each([
    ['HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n', 'HPE_INVALID_HEADER_TOKEN'],
    [
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      'HPE_UNEXPECTED_CONTENT_LENGTH',
    ],
    ['HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n', 'UNASKED_UPGRADE'],
    [`HTTP/1.1 200 OK\r\nX: ${'y'.repeat(MAX_HEADER_BYTES)}\r\n\r\n`, 'HEADERS_TOO_LARGE'],
    [`HTTP/1.1 200 ${'y'.repeat(MAX_HEADER_BYTES)}`, 'HEADERS_TOO_LARGE'],
    [`HTTP/1.1 200 OK\r\n${'y'.repeat(MAX_HEADER_BYTES)}`, 'HEADERS_TOO_LARGE'],
    ['HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n', 'WRONG_CONTENT_LENGTH'],
  ])('%j', (text, code) => {
    expect(read([text]).error).toMatchObject({ code });
    expect(read([...text]).error).toMatchObject({ code });
  });
});

test('a freed parser calls nothing back, also if it is freed in a callback', () => {
  let pieces = 0;
  const parser: ResponseParser = new ResponseParser('GET', MAX_HEADER_BYTES, {
    head: () => parser.free(),
    data: () => {
      pieces += 1;
    },
    end: () => {
      pieces += 1;
    },
  });
  const bytes = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc');
  expect(parser.execute(bytes)).toBeNull();
  expect(parser.execute(bytes)).toBeNull();
  parser.free();
  expect(pieces).toBe(0);
});

test('thousands of parsers take no more memory than one', () => {
  const bytes = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc');
  const nothing = { head() {}, data() {}, end() {} };
  read([RESPONSE]);
  const beforeBytes = parserMemoryBytes();
  for (let n = 0; n < 20_000; n += 1) {
    const parser = new ResponseParser('GET', MAX_HEADER_BYTES, nothing);
    expect(parser.execute(bytes) === null).toBe(true);
    parser.free();
  }
  expect(parserMemoryBytes()).toBe(beforeBytes);
});
