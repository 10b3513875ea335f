import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { mutated } from '../responses/bytes.ts';
import { changedValue } from '../wrong-values.ts';

/** JSON of one of the values, with mutated values or bytes. */
export function changedJson(values: readonly unknown[]): fc.Arbitrary<Buffer> {
  const whole = fc.constantFrom(...values).map(jsonOf);
  return fc.oneof(
    { weight: 6, arbitrary: changedValue(values).map(jsonOf) },
    { weight: 2, arbitrary: mutated(changedValue(values).map(jsonOf)) },
    { weight: 2, arbitrary: fc.tuple(whole, repetition).map(([json, repeat]) => repeat(json)) },
    { weight: 1, arbitrary: fc.constantFrom(...NO_MESSAGES) },
    { weight: 2, arbitrary: whole },
  );
}

/** The same without mutated bytes, which could change an address. */
export function changedTree(values: readonly unknown[]): fc.Arbitrary<Buffer> {
  return fc.oneof(
    { weight: 6, arbitrary: changedValue(values).map(jsonOf) },
    { weight: 1, arbitrary: fc.constantFrom(...NO_MESSAGES) },
    { weight: 1, arbitrary: fc.constantFrom(...values).map(jsonOf) },
  );
}

function jsonOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** A duplicate field, a very long list, a deeply nested value. */
const repetition: fc.Arbitrary<(json: Buffer) => Buffer> = fc.oneof(
  fc.constantFrom('"', ':', ',', '{', '[').map((sign) => (json: Buffer) => {
    const text = json.toString();
    const at = text.indexOf(sign, Math.floor(text.length / 3));
    return Buffer.from(text.slice(0, at) + sign + text.slice(at));
  }),
  fc.constantFrom(10, 2_000, 20_000).map((depth) => (json: Buffer) => {
    const deep = '['.repeat(depth) + ']'.repeat(depth);
    return Buffer.from(
      json.toString().replaceAll(/"(name|A|message|url|key)":"[^"]*"/g, `"$1":"x","deep":${deep}`),
    );
  }),
  fc.constantFrom(10, 500).map((times) => (json: Buffer) => {
    const item = /\{[^{}[\]]*\}/.exec(json.toString())?.[0] ?? '{}';
    return Buffer.from(json.toString().replaceAll('[]', `[${Array(times).fill(item).join()}]`));
  }),
  fc
    .constantFrom('1e400', '-1', '9007199254740993', '0.1', '1E5', '-0', '00')
    .map(
      (number) => (json: Buffer) => Buffer.from(json.toString().replaceAll(/:\d+/g, `:${number}`)),
    ),
);

/** Bodies that are not messages. */
const NO_MESSAGES: readonly Buffer[] = [
  ...['', ' ', 'null', '[]', '{}', '""', '0', 'true', '{', '[', '"', '\0', 'nul', '{}{}', '<html>'],
  ...[
    '{"__proto__":{"ok":true}}',
    `${'['.repeat(5_000)}`,
    `${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}`,
  ],
].map((text) => Buffer.from(text));

/** An answer in wire format. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  /** Unpacked. */
  readonly body: Buffer;
  readonly packing: 'none' | 'gzip' | 'cut gzip' | 'false gzip' | 'gzip bomb';
  /** What happens after the sent part. */
  readonly ending: 'whole' | 'cut' | 'silence' | 'garbage';
}

const STATUSES = [
  ...[200, 200, 200, 200, 200, 201, 204, 206, 299, 301, 304, 400, 401, 403, 404, 408, 409, 410],
  ...[413, 418, 422, 425, 426, 429, 431, 499, 500, 501, 502, 503, 504, 511, 599, 600, 999],
];
const TYPES = [
  'application/json',
  'text/html',
  'application/octet-stream',
  '',
  'x',
  'a'.repeat(500),
];
const RETRY_AFTERS = [
  '0',
  '1',
  '5',
  '-1',
  'soon',
  '1e3',
  '99999999999',
  'Thu, 01 Jan 1970 00:00:00 GMT',
];

export function wireAnswer(body: fc.Arbitrary<Buffer>): fc.Arbitrary<WireAnswer> {
  return fc.record({
    status: fc.oneof(
      { weight: 3, arbitrary: fc.constant(200) },
      { weight: 2, arbitrary: fc.constantFrom(...STATUSES) },
    ),
    headers: fc.tuple(
      fc.constantFrom(...TYPES.map((type) => ['content-type', type] as const)),
      fc.constantFrom(...RETRY_AFTERS.map((after) => ['retry-after', after] as const)),
    ),
    body,
    packing: fc.oneof(
      { weight: 12, arbitrary: fc.constant('none' as const) },
      { weight: 3, arbitrary: fc.constant('gzip' as const) },
      { weight: 1, arbitrary: fc.constantFrom('cut gzip' as const, 'false gzip' as const) },
    ),
    ending: fc.oneof(
      { weight: 20, arbitrary: fc.constant('whole' as const) },
      {
        weight: 1,
        arbitrary: fc.constantFrom('cut' as const, 'silence' as const, 'garbage' as const),
      },
    ),
  });
}

export const GZIP_BOMB: WireAnswer = {
  status: 200,
  headers: [],
  body: Buffer.alloc(0),
  packing: 'gzip bomb',
  ending: 'whole',
};

/** A hundred megabytes of spaces, compressed to a hundred kilobytes. */
let bomb: Buffer | null = null;

export function packed({ body, packing }: WireAnswer): Buffer {
  switch (packing) {
    case 'none':
    case 'false gzip':
      return body;
    case 'gzip':
      return gzipSync(body, { level: 1 });
    case 'cut gzip':
      return gzipSync(body, { level: 1 }).subarray(0, -5);
    case 'gzip bomb':
      bomb ??= gzipSync(Buffer.alloc(100 * 1024 * 1024, ' '), { level: 1 });
      return bomb;
  }
}

/** All bytes of the answer, or of its sent part. */
export function bytesOf(answer: WireAnswer): Buffer {
  const { status, headers, ending, packing } = answer;
  const body = packed(answer);
  const lines = [
    `HTTP/1.1 ${status} Said`,
    `content-length: ${body.length}`,
    ...(packing === 'none' ? [] : ['content-encoding: gzip']),
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  const whole = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
  switch (ending) {
    case 'whole':
      return whole;
    case 'garbage':
      return Buffer.from(whole.toString('latin1').replace('HTTP/1.1', 'HTTQ/9'), 'latin1');
    default:
      return whole.subarray(0, Math.max(1, whole.length - 3));
  }
}
