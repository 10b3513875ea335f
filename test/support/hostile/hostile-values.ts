import { gzipSync } from 'node:zlib';
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from '../../../src/service/http/plugins/json-body.ts';

/** Texts that do harm if they get unescaped into a statement, a path, a header or an object key. */
export const TEXTS = [
  `'; drop table checks; -- " \\ $1 $$ %s` +
    ' ../../etc/passwd ..\\boot.ini\r\nx-injected: yes\r\n\r\n',
  `' or '1'='1`,
  'a\0b',
  '\ud800',
  '__proto__',
  '../../../../etc/passwd',
  // Short enough to fit twice into the path of a request.
  'x'.repeat(5_000),
];
export const NUMBERS = [-1, 0.5, 2 ** 31, 2 ** 53, 1e308];
/** Fields that refer to an existing resource. */
export const REFERENCE = /(id|ids|locations?|slug|done)$/i;
/** Unencoded parts of a path. */
export const RAW_PARTS = [
  '..',
  '%2e%2e',
  '%2e%2e%2fetc%2fpasswd',
  '%00',
  '%ff',
  '%',
  '%ed%a0%80',
  "';--",
];

/** Ids that do not exist. */
export const WRONG_KEYS: readonly (string | null)[] = [
  null,
  'nothing',
  `vk_${'0'.repeat(32)}`,
  `pl_${'0'.repeat(32)}`,
  `vk_${"'".repeat(32)}`,
];

const DEEP = '['.repeat(MAX_JSON_DEPTH + 1) + ']'.repeat(MAX_JSON_DEPTH + 1);
/** Bodies that no route accepts, with the status of the response. */
export const BAD_BODIES: readonly {
  readonly status: number;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Only for routes that decompress bodies. */
  readonly gzip?: true;
}[] = [
  { status: 400, body: '{' },
  { status: 400, body: '{"name": "a"' },
  { status: 400, body: "{'name': 1}" },
  { status: 400, body: '\0' },
  { status: 400, body: Buffer.from([0x22, 0xff, 0xfe, 0x22]) },
  { status: 400, body: DEEP },
  { status: 400, body: '{"a":'.repeat(100_000) },
  { status: 400, body: `[${'1,'.repeat(MAX_JSON_VALUES)}1]` },
  { status: 413, body: ' '.repeat(4 * 1024 * 1024 + 1) },
  { status: 415, body: '<a/>', headers: { 'content-type': 'application/xml' } },
  { status: 415, body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  { status: 415, body: '{}', headers: { 'content-encoding': 'br' } },
  { status: 400, body: '{}', headers: { 'content-encoding': 'gzip' }, gzip: true },
  {
    status: 400,
    body: gzipSync('{"a":1}').subarray(0, 12),
    headers: { 'content-encoding': 'gzip' },
    gzip: true,
  },
  {
    status: 413,
    body: gzipSync(Buffer.alloc(5 * 1024 * 1024, ' ')),
    headers: { 'content-encoding': 'gzip' },
    gzip: true,
  },
];

/** None of these may become a file name. */
export const ARTIFACT_NAMES = [
  '',
  '.',
  '..',
  '../a.txt',
  'a/../../b.txt',
  '/etc/passwd',
  'C:\\a.txt',
  '..\\a.txt',
  '.hidden',
  'a..b',
  'a.',
  'a b.txt',
  'a\0.txt',
  'a.txt\r\nx-injected: yes',
  'a".txt',
  '%2e%2e%2fa.txt',
  'ä.txt',
  '\u202etxt.exe',
  'x'.repeat(129),
];
