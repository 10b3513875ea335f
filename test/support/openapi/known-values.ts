import fc from 'fast-check';

/** Texts that break formats built from text. */
const NASTY_TEXTS = [
  '',
  ' ',
  "'; drop table checks; --",
  '\u0000',
  '\ud800',
  '😀'.repeat(40),
  '../../etc/passwd',
  '{{X}}',
  '<script>',
  '%00',
  '-1',
  'null',
  'a'.repeat(300),
  '__proto__',
  '9999-12-31T23:59:59.999Z',
  '0000-00-00',
  '2026-02-30',
] as const;
const NASTY_NUMBERS = [
  0,
  -1,
  0.5,
  -0,
  1e308,
  2 ** 31,
  2 ** 53,
  2 ** 63,
  Number.MIN_VALUE,
  100_000_000,
] as const;

/** A value that nobody would send on purpose. */
export const nasty: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...NASTY_TEXTS, ...NASTY_NUMBERS, null, true, [], {}, [[]], { a: 1 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Texts that some pattern or format of the API accepts. */
export const KNOWN_TEXTS = [
  'shop',
  'a.example.com',
  'https://a.example.com/path',
  'eu-west-1',
  '2026-01-31',
  '2026-03-01T10:00:00Z',
  '2026-03-01T12:00:00.000Z',
  '#ff8800',
  '$.a',
  'TOKEN',
  'ops@example.com',
  '+4915112345678',
  '192.0.2.7',
  '00000000-0000-4000-8000-000000000000',
];
