import fc from 'fast-check';
import { anyText, changedValue } from '../wrong-values.ts';
import { MARK, TEXTS, VALUES } from './seeds.ts';

export interface CheckText {
  readonly text: string;
  /** The file's extension. */
  readonly extension: 'yaml' | 'json';
  /**
   * Whether MARK occurs only as the value of a secret variable. Cut and copied texts may have moved
   * it, and then it is not a secret.
   */
  readonly isMarked: boolean;
}

/** Characters that break YAML, JSON, JavaScript objects and terminals, in this order. */
const FRAGMENTS = [
  ...['\n', '\t', '  ', '\n    ', ': ', ':', '- ', '? ', '&a ', '*a', '*all', '!x ', '!!str '],
  ...['|', '>-\n', '|9\n', '#', ' #', '%YAML 1.1\n', '%TAG ! x\n', '---\n', '...\n', '<<: *all\n'],
  ...['@', '`', '[', ']', '{', '}', '"', "'", ',', '\\u00', '\\x', '\\', '1e999', 'null', '~'],
  ...['2001-01-01', '0x1F', '0o17', '.nan', '-.inf', 'yes', '9007199254740993', '-0', '1_000'],
  ...['__proto__: ', '"__proto__": {"polluted": 1},', 'constructor: ', 'toString', 'valueOf: {}'],
  ...[
    '\0',
    '\u001b[2J',
    '\u009b',
    '\u2028',
    '\ufeff',
    '\r\n',
    '\r',
    '\ud800',
    '\u{1f600}',
    '\u0085',
  ],
  ...['['.repeat(60), '{"a":'.repeat(60), '- '.repeat(60), '? '.repeat(200), 'x'.repeat(5000)],
  ...[' '.repeat(300), '\n'.repeat(300), '&a '.repeat(30), '*a, '.repeat(50), '"a":1,'.repeat(100)],
];

type Change = (text: string) => string;

const place = fc.nat(0xffff);
const at = (share: number, text: string): number =>
  Math.floor((share * (text.length + 1)) / 65_536);

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(place, fc.constantFrom(...FRAGMENTS)).map(
    ([where, fragment]): Change =>
      (text) =>
        text.slice(0, at(where, text)) + fragment + text.slice(at(where, text)),
  ),
  fc.tuple(place, anyText(8)).map(
    ([where, added]): Change =>
      (text) =>
        text.slice(0, at(where, text)) + added + text.slice(at(where, text)),
  ),
  fc.tuple(place, fc.nat(40)).map(
    ([where, length]): Change =>
      (text) =>
        text.slice(0, at(where, text)) + text.slice(at(where, text) + length),
  ),
  fc.tuple(place, place, fc.nat(200)).map(
    ([where, from, length]): Change =>
      (text) =>
        text.slice(0, at(where, text)) +
        text.slice(at(from, text), at(from, text) + length) +
        text.slice(at(where, text)),
  ),
  place.map(
    (where): Change =>
      (text) =>
        text.slice(0, at(where, text)),
  ),
);

/** Texts with pieces inserted, removed, copied and cut off. */
const changedTexts: fc.Arbitrary<CheckText> = fc
  .record({
    // The first is by far the longest.
    text: fc.oneof(
      { weight: 1, arbitrary: fc.constantFrom(...TEXTS.slice(0, 1)) },
      { weight: 29, arbitrary: fc.constantFrom(...TEXTS.slice(1)) },
    ),
    changes: fc.array(change, { minLength: 1, maxLength: 4 }),
    extension: fc.constantFrom('yaml' as const, 'json' as const),
  })
  .map(({ text, changes, extension }) => ({
    text: changes.reduce((changed, apply) => apply(changed), text),
    extension,
    isMarked: false,
  }));

/** Values of a file with parts replaced, removed, added, renamed and duplicated. */
const changedValues: fc.Arbitrary<CheckText> = fc
  .record({
    // Under another key it would not be a secret.
    value: changedValue(VALUES, (value) => JSON.stringify(value).includes(MARK)),
    indent: fc.constantFrom(0, 0, 2),
    isBare: fc.boolean(),
  })
  .map(({ value, indent, isBare }) => {
    const json = JSON.stringify(value, null, indent);
    // Without the quotes of its plain words it is YAML's flow style.
    const text = isBare ? json.replaceAll(/"([a-z][a-zA-Z]*)":/g, '$1: ') : json;
    return { text, extension: 'yaml' as const, isMarked: true };
  });

/** A secret with commonly unquoted characters, in each notation of a list of variables. */
const brokenSecrets: fc.Arbitrary<CheckText> = fc
  .record({
    style: fc.constantFrom('flow', 'block', 'quoted', 'literal', 'bare list', 'of a check'),
    colon: fc.constantFrom(': ', ':', ' : ', ':\t', ':\n      '),
    before: fc.array(fc.constantFrom('', ...'*&!%@`"\'|>[]{},#?:- '.split(''), '\\u', 'a'), {
      maxLength: 3,
    }),
    after: fc.array(fc.constantFrom('', ...'*&!%@`"\'|>[]{},# '.split(''), '\n      b', 'a'), {
      maxLength: 3,
    }),
    key: fc.constantFrom('value', 'value', 'value', 'Value', 'val', 'values', 'secret'),
  })
  .map(({ style, colon, before, after, key }) => {
    const secret = before.join('') + MARK + after.join('');
    return { text: secretText(style, `${key}${colon}`, secret), extension: 'yaml', isMarked: true };
  });

const CHECK = 'checks:\n  - { id: a, checkType: TCP, request: { hostname: h, port: 1 } }\n';

function secretText(style: string, start: string, secret: string): string {
  switch (style) {
    case 'flow':
      return `variables:\n  - { key: A, ${start}${secret}, secret: true }\n${CHECK}`;
    case 'block':
      return `${CHECK}variables:\n  - key: A\n    secret: true\n    ${start}${secret}\n`;
    case 'quoted':
      return `variables:\n  - key: A\n    ${start}"${secret}"\n    secret: true\n${CHECK}`;
    case 'literal':
      return `${CHECK}variables:\n  - key: A\n    secret: true\n    ${start}|\n      ${secret}\n`;
    case 'bare list':
      return `variables: [{ key: A, secret: true, ${start}${secret} }]\n${CHECK}`;
    default:
      return `${CHECK.trimEnd().slice(0, -1)}, variables: [{ key: A, ${start}${secret} }] }\n`;
  }
}

/** Any text of syntactically relevant characters. */
const randomTexts: fc.Arbitrary<CheckText> = fc
  .array(fc.oneof(fc.constantFrom(...FRAGMENTS, 'checks', 'id', 'a'), anyText(4)), {
    maxLength: 30,
  })
  .map((parts) => ({ text: parts.join(''), extension: 'yaml' as const, isMarked: false }));

export const checkText: fc.Arbitrary<CheckText> = fc.oneof(
  { weight: 8, arbitrary: changedTexts },
  { weight: 8, arbitrary: changedValues },
  { weight: 3, arbitrary: brokenSecrets },
  { weight: 1, arbitrary: randomTexts },
);
