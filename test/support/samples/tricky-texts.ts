import fc from 'fast-check';

/** Characters that encodings treat specially, or that look like a part of an encoding. */
const UNITS = [
  ...'"\'\\%+&<>=/-_.,:;#@$*?()[]{}|~ \n\t\r\u0001\u007f',
  ...'abnuxztlqABQZ0123459',
  ...'éß漢\u00a0\u2028😀',
  '\\n',
  '\\u0041',
  '\\\\',
  '%41',
  '%2',
  '2B',
  'c3',
  '&lt;',
  '&#65',
  '==',
];

/** Texts of characters that are hard to encode, most of them next to each other. */
export function trickyText(size: {
  readonly min: number;
  readonly max: number;
}): fc.Arbitrary<string> {
  return fc
    .array(fc.constantFrom(...UNITS), { minLength: size.min, maxLength: size.max })
    .map((units) => units.join(''));
}
