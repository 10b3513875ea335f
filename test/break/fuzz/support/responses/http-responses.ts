import fc from 'fast-check';
import { corpusOf, mutated, randomBytes } from './bytes.ts';
import { contentTypes, honestBody, lightBody } from './http-bodies.ts';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

export const corpusResponses = corpusOf('http', '.http');
export const corpusFrames = corpusOf('http', '.h2');

const tenOf = (text: string): string => text.repeat(10);

/** Header lines that change how a response is read, each without its line end. */
const TELLING_LINES = [
  ...['Content-Length: 0', 'Content-Length: 5', 'Content-Length: 99999', 'Content-Length: -1'],
  ...['Content-Length: +5', 'Content-Length: 0x5', 'Content-Length: 5, 5', 'Content-Length: 5, 6'],
  ...['Content-Length:', 'Content-Length: 18446744073709551616', 'Content-Length: 5 5'],
  ...['content-length : 5', ' Content-Length: 5', 'Content-Length: 9007199254740993'],
  ...[
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: Chunked',
    'Transfer-Encoding: gzip, chunked',
  ],
  ...[
    'Transfer-Encoding: chunked, gzip',
    'Transfer-Encoding: identity',
    'Transfer-Encoding: xchunked',
  ],
  ...['Transfer-Encoding: chunked, chunked', 'Transfer-Encoding:', 'Transfer-Encoding: \tchunked'],
  ...[
    'Connection: close',
    'Connection: keep-alive',
    'Connection: upgrade',
    'Upgrade: h2c',
    'Upgrade: x',
  ],
  ...[
    'Keep-Alive: timeout=0',
    'Keep-Alive: timeout=99999999999',
    'Trailer: X-After',
    'Alt-Svc: h3=":1"',
  ],
  ...['Set-Cookie: a=b; Path=/', 'Set-Cookie: \xff\xfe', 'Date: never', 'Content-Type: text/plain'],
  ...[
    'Location: /again',
    'Location: ?x=1',
    'Location: //',
    'Location: http://[::',
    'Location: ftp://x/',
  ],
  ...[
    'Location: http://user:pw@localhost/',
    'Location: javascript:alert(1)',
    'Location:',
    'Location: \xc3\xbc',
  ],
  ...[
    'Location: http://127.0.0.1:1/',
    'Location: https://localhost:1/',
    `Location: /${tenOf('%00')}`,
  ],
  ...[
    '__proto__: 1',
    'constructor: 1',
    'toString: x',
    'hasOwnProperty: x',
    'X-Same: 1',
    'X-Same: 2',
  ],
  ...[
    ': no name',
    'no colon',
    '',
    ' folded',
    '\tfolded',
    'X\x00Y: 1',
    'X: a\x00b',
    'X: \x7f\x80',
    'X: \x01',
  ],
  ...[
    'X: a\rb',
    'X: a\nb',
    `X: ${'v'.repeat(5000)}`,
    `${'n'.repeat(5000)}: v`,
    'Content-Encoding: gzip',
  ],
  ...[
    'Content-Encoding: br',
    'Content-Encoding: nope',
    'Content-Disposition: attachment',
    'HTTP/1.1 200 OK',
  ],
];
/** Lines without effect on reading a response. */
const HARMLESS_LINES = [
  ...[
    'Date: never',
    'X-Same: 1',
    'X-Same: 2',
    'Set-Cookie: a=b; Path=/',
    'Set-Cookie: \xff\xfe',
    'Vary: *',
  ],
  ...[
    '__proto__: 1',
    'constructor: 1',
    'hasOwnProperty: x',
    'Alt-Svc: h3=":1"',
    'Connection: close',
  ],
  ...[
    'Location: /again',
    'Location: ?x=1',
    'Location: http://[::',
    'Location: http://127.0.0.1:1/',
  ],
  ...[
    'Location: https://localhost:1/',
    'Keep-Alive: timeout=99999999999',
    'X: \xe4\tb',
    'X-Empty:',
  ],
];
const line = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom(...HARMLESS_LINES).map(latin1) },
  { weight: 6, arbitrary: fc.constantFrom(...TELLING_LINES).map(latin1) },
  { weight: 1, arbitrary: randomBytes(40) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,20}$/), randomBytes(30))
      .map(([name, value]) => Buffer.concat([latin1(`${name}: `), value])),
  },
);
const STATUS_LINES = [
  ...[
    'HTTP/1.1 200 OK',
    'HTTP/1.1 200 OK',
    'HTTP/1.1 200 OK',
    'HTTP/1.0 200 OK',
    'HTTP/1.1 204 No',
  ],
  ...[
    'HTTP/1.1 304 N',
    'HTTP/1.1 404 \xff\xfe',
    'HTTP/1.1 500',
    'HTTP/1.1 500 ',
    'HTTP/1.1 302 Found',
  ],
  ...['HTTP/1.1 301 M', 'HTTP/1.1 307 T', 'HTTP/1.1 303 S', 'HTTP/1.1 308 P', 'HTTP/1.1 300 C'],
  ...[
    'HTTP/1.1 099 Odd',
    'HTTP/1.1 000 Odd',
    'HTTP/1.1 999 Odd',
    'HTTP/1.1 1000 Odd',
    'HTTP/1.1 20 Odd',
  ],
  ...[
    'HTTP/1.1 101 Switch',
    'HTTP/1.1 407 Proxy',
    'HTTP/1.1 -20 Odd',
    'HTTP/1.1  200 OK',
    'HTTP/1.1\t200 OK',
  ],
  ...[
    'HTTP/1.2 200 OK',
    'HTTP/2 200',
    'HTTP/2.0 200 OK',
    'HTTP/9.9 200 OK',
    'HTTP/1. 200',
    'HTTP/11 200 OK',
  ],
  ...[
    'http/1.1 200 OK',
    'ICY 200 OK',
    'RTSP/1.0 200 OK',
    'SSH-2.0-x',
    'HTTP',
    'HTTP/',
    '',
    ' HTTP/1.1 200 OK',
  ],
  ...[
    `HTTP/1.1 200 ${'long '.repeat(3000)}`,
    'HTTP/1.1 200 O\x00K',
    'HTTP/1.1 200 OK HTTP/1.1 404 NO',
  ],
];
const statusLine = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('HTTP/1.1 200 OK', 'HTTP/1.0 200 OK').map(latin1) },
  { weight: 1, arbitrary: fc.constantFrom(...STATUS_LINES).map(latin1) },
  {
    weight: 2,
    arbitrary: fc.integer({ min: 190, max: 620 }).map((status) => latin1(`HTTP/1.1 ${status} S`)),
  },
);
const lineEnd = fc.oneof(
  { weight: 40, arbitrary: fc.constant('\r\n') },
  { weight: 2, arbitrary: fc.constant('\n') },
  { weight: 1, arbitrary: fc.constantFrom('\r', '\r\r\n', '\n\r', ' \r\n', '\0') },
);
const interim = fc.constantFrom(
  ...['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
  ...['HTTP/1.0 102 P\r\n\r\n', 'HTTP/1.1 199 X\n\n', 'HTTP/1.1 100 C\r\n', '\r\n', '\n'],
  ...['HTTP/1.1 100 C\r\nContent-Length: 5\r\n\r\n', 'HTTP/1.1 101 S\r\nUpgrade: x\r\n\r\n'],
);

/** The size in the form of a chunk, also in invalid forms. */
function sizeText(bytes: number, how: number): string {
  const hex = bytes.toString(16);
  const forms = [hex, hex.toUpperCase(), `000000000${hex}`, `${hex};ext="a;b"`, `${hex};a=b;c`];
  const lies = [
    `${hex} `,
    `0x${hex}`,
    '-1',
    '',
    'zz',
    'ffffffffffffffff',
    'fffffffffffffffff',
    `${hex}\0`,
    `+${hex}`,
  ];
  return [...forms, ...lies][how] ?? hex;
}

const howChunked = fc.oneof(
  { weight: 30, arbitrary: fc.constant(0) },
  { weight: 5, arbitrary: fc.nat(4) },
  { weight: 1, arbitrary: fc.integer({ min: 5, max: 13 }) },
);
const lastChunk = fc.oneof(
  { weight: 8, arbitrary: fc.constant('0\r\n\r\n') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '0\r\nX-After: 1\r\n\r\n',
      '0\r\nContent-Length: 3\r\n\r\n',
      '0\n\n',
      '0\r\n',
      '',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      `0;${'e'.repeat(3000)}\r\n\r\n`,
      `0\r\n${'X: y\r\n'.repeat(3000)}\r\n`,
    ),
  },
);

/** Chunks of the given sizes in order. */
function chunked(
  body: Buffer,
  sizes: readonly number[],
  how: readonly number[],
  last: string,
): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0, turn = 0; at < body.length; turn += 1) {
    const piece = body.subarray(at, at + (sizes[turn % Math.max(1, sizes.length)] ?? body.length));
    const size = sizeText(piece.length, how[turn % Math.max(1, how.length)] ?? 0);
    parts.push(latin1(`${size}\r\n`), piece, latin1('\r\n'));
    at += piece.length;
  }
  return Buffer.concat([...parts, latin1(last)]);
}

const framing = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ kind: 'length' as const, lie: 0 }) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: -3, max: 3 }).map((lie) => ({ kind: 'length' as const, lie })),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'end' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('chunked' as const),
      sizes: fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 4 }),
      how: fc.array(howChunked, { minLength: 1, maxLength: 3 }),
      last: lastChunk,
    }),
  },
);

function framedBody(body: Buffer, how: typeof framing extends fc.Arbitrary<infer T> ? T : never) {
  if (how.kind === 'end') return { lines: [], bytes: body };
  if (how.kind === 'length') {
    return { lines: [`Content-Length: ${Math.max(0, body.length + how.lie)}`], bytes: body };
  }
  const { sizes, how: forms, last } = how;
  return { lines: ['Transfer-Encoding: chunked'], bytes: chunked(body, sizes, forms, last) };
}

const nothing = fc.constant(Buffer.alloc(0));

/** A response of the grammar, with possibly false headers. */
const grammarResponse = fc
  .record({
    before: fc.oneof(
      { weight: 6, arbitrary: fc.constant<string[]>([]) },
      { weight: 1, arbitrary: fc.array(interim, { maxLength: 4 }) },
    ),
    status: statusLine,
    end: lineEnd,
    body: lightBody,
    how: framing,
    lines: fc.array(line, { maxLength: 4 }),
    behind: fc.oneof({ weight: 6, arbitrary: nothing }, { weight: 1, arbitrary: randomBytes(40) }),
  })
  .map(({ before, status, end, body, how, lines, behind }) => {
    const framed = framedBody(body.bytes, how);
    const coding = body.coding === '' ? [] : [`Content-Encoding: ${body.coding}`];
    const head = [status, ...lines, ...[...framed.lines, ...coding].map(latin1), Buffer.alloc(0)];
    const withEnds = head.flatMap((each) => [each, latin1(end)]);
    return Buffer.concat([...before.map(latin1), ...withEnds, framed.bytes, behind]);
  });

/** A valid response, and its expected content. */
export const honestResponse = fc
  .record({
    status: fc.constantFrom(200, 201, 206, 226, 299, 400, 404, 418, 500, 503, 599, 999),
    version: fc.constantFrom('1.0' as const, '1.1' as const),
    body: honestBody,
    type: contentTypes,
    // HTTP/1.0 has no chunks.
    sizes: fc.array(fc.integer({ min: 1, max: 3000 }), { maxLength: 4 }),
    how: fc.array(fc.nat(4), { minLength: 1, maxLength: 3 }),
    hints: fc.nat(2),
  })
  .map(({ status, version, body, type, sizes, how, hints }) => {
    const isChunked = version === '1.1' && sizes.length > 0;
    const framed = isChunked
      ? framedBody(body.bytes, { kind: 'chunked', sizes, how, last: '0\r\nX-After: 1\r\n\r\n' })
      : framedBody(body.bytes, { kind: 'length', lie: 0 });
    const lines = [
      `HTTP/${version} ${status} Fine`,
      ...framed.lines,
      ...(body.coding === '' ? [] : [`Content-Encoding: ${body.coding}`]),
      `Content-Type: ${type}`,
      'X-Twice: 1',
      'x-twice: 2',
    ];
    const before = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(hints);
    const head = latin1(`${before}${lines.join('\r\n')}\r\n\r\n`);
    return { status, version, plain: body.plain, bytes: Buffer.concat([head, framed.bytes]) };
  });

const fromCorpus = fc.constantFrom(...corpusResponses).map(({ bytes }) => bytes);

/** Anything that a server may send on a connection that speaks HTTP/1. */
export const anyResponse: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 6, arbitrary: grammarResponse },
  { weight: 2, arbitrary: mutated(grammarResponse) },
  { weight: 3, arbitrary: mutated(fromCorpus) },
  { weight: 1, arbitrary: mutated(honestResponse.map(({ bytes }) => bytes)) },
  { weight: 1, arbitrary: randomBytes(200) },
);

const framePart = fc.constantFrom(...corpusFrames).map(({ bytes }) => bytes);
const looseFrame = fc
  .record({
    type: fc.oneof(fc.nat(12), fc.nat(255)),
    flags: fc.oneof(fc.constantFrom(0, 1, 4, 5, 8), fc.nat(255)),
    stream: fc.constantFrom(0, 1, 1, 1, 2, 3, 0x7fffffff),
    payload: randomBytes(30),
    lie: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(300) }),
  })
  .map(({ type, flags, stream, payload, lie }) => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length + lie, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]);
  });
const SETTINGS = Buffer.from('000000040000000000', 'hex');

/** Anything that a server may send after the agreement on HTTP/2: frames and other bytes. */
export const anyFrames: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 4, arbitrary: mutated(framePart) },
  {
    weight: 3,
    arbitrary: fc
      .array(fc.oneof(looseFrame, framePart), { minLength: 1, maxLength: 6 })
      .map((frames) => Buffer.concat([SETTINGS, ...frames])),
  },
  { weight: 1, arbitrary: randomBytes(100).map((bytes) => Buffer.concat([SETTINGS, bytes])) },
);
