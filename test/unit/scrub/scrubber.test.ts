import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createScrubber, isMaskable, NO_SECRETS } from '../../../src/scrub/scrubber.ts';
import { caseCount } from '../../support/nightly.ts';
import { trickyText } from '../../support/samples/tricky-texts.ts';

describe('what may be masked', () => {
  it.each([
    'swordfish',
    'abcd',
    '1234',
    '0000',
    '!@#$%^&*',
    'größe',
    'p😀😀😀',
    '漢字漢字',
    'a:// ',
  ])('%j', (value) => {
    expect(isMaskable(value)).toBe(true);
    expect(createScrubber([value]).text(`<${value}>`)).toBe('<********>');
  });

  it.each([
    '',
    '/',
    '*',
    '123',
    'abc',
    '😀😀😀',
    'é1',
    '----',
    '********',
    '-=-=-=',
    '    ',
    '\n\n\n\n',
  ])('not %j', (value) => {
    expect(isMaskable(value)).toBe(false);
    expect(createScrubber([value])).toBe(NO_SECRETS);
  });

  it.each(['http://', 'https://', 'WSS://', 'true', 'False', 'null', 'undefined', 'None'])(
    'not %s, which is everywhere',
    (value) => expect(isMaskable(value)).toBe(false),
  );
});

describe('masks', () => {
  it('are one where secrets touch, overlap, or are a part of each other', () => {
    const scrubber = createScrubber(['swordfish', 'fishing rod', 'sword', 'swordfish-and-more']);
    expect(scrubber.text('(swordfish-and-more)(swordfish)(swords)')).toBe(
      '(********)(********)(********s)',
    );
    expect(scrubber.text('swordfishing rod')).toBe('********');
    expect(scrubber.text('swordswordfishing')).toBe('********ing');
  });

  it.each([
    // A secret whose first letter looks escaped by the backslash before it.
    { secret: 'never', text: '{"a":"x\\never"}', masked: '{"a":"x********"}' },
    { secret: 'n\\ever', text: '{"a":"x\\\\n\\\\ever"}', masked: '{"a":"x\\\\********"}' },
    { secret: 'ends\\', text: '{"a":"ends\\"b"}', masked: '{"a":"********b"}' },
    { secret: '41 is', text: 'a%41%20is%20', masked: 'a********%20' },
    { secret: 'lt; so', text: '1 &lt; so on', masked: '1 ******** on' },
    { secret: 'word', text: 'a\\nword', masked: 'a\\n********' },
  ])('take no half of an escape: $text', ({ secret, text, masked }) => {
    expect(createScrubber([secret]).text(text)).toBe(masked);
  });

  it('take no half of a character', async () => {
    // Its first byte in Latin-1 is the second byte of an é in UTF-8.
    const scrubber = createScrubber(['©abcd']);
    const bytes = await scrubber.bytes(Buffer.from('<éabcd>'));
    expect(Buffer.from(bytes).toString()).toBe('<********>');
  });

  it('take the padding of base64, escaped or not', () => {
    const scrubber = createScrubber(['swordfish1']);
    const encoded = Buffer.from('swordfish1').toString('base64');
    expect(encoded).toMatch(/==$/);
    expect(scrubber.text(`<${encoded}>`)).toBe('<********>');
    expect(scrubber.text(`a=${encodeURIComponent(encoded)}&b`)).toBe('a=********&b');
  });

  it('replace whole secrets alone, however much of one a text ends with', async () => {
    const secret = 'correct "horse" battery staple';
    const scrubber = createScrubber([secret]);
    const half = secret.slice(0, -1);
    const texts = [
      half,
      half.repeat(900),
      `${half}…`,
      JSON.stringify(half),
      encodeURIComponent(half),
    ];
    const digits = Buffer.from(half);
    const encoded = [digits.toString('base64'), digits.toString('hex')];
    for (const text of [...texts, ...encoded]) {
      expect(scrubber.text(text)).toBe(text);
      const bytes = Buffer.from(text);
      expect(await scrubber.bytes(bytes)).toBe(bytes);
    }
  });

  it('do not replace a beginning in any reading of base64 behind an escape', () => {
    const secret = 'correct-horse-battery-staple';
    const scrubber = createScrubber([secret]);
    // The decoder of the digits behind the escape stops after some hundred of them.
    for (let before = 540; before <= 640; before += 1) {
      const guess = Buffer.from('x'.repeat(before) + secret.slice(0, 20) + 'y'.repeat(400));
      const text = `%2B${guess.toString('base64')}`;
      expect(scrubber.text(text)).toBe(text);
      const whole = Buffer.from('x'.repeat(before) + secret + 'y'.repeat(400));
      expect(scrubber.text(`%2B${whole.toString('base64')}`)).toContain('********');
    }
  });

  it('leave halves of surrogate pairs beside them', () => {
    const scrubber = createScrubber(['swordfish', 'half \ud83d of it']);
    expect(scrubber.text('\ude00é swordfish \ud83d')).toBe('\ude00é ******** \ud83d');
    expect(scrubber.text('<half \ud83d of it>')).toBe('<********>');
  });
});

describe('a value', () => {
  const scrubber = createScrubber(['swordfish', '"quoted"', '12345']);

  it('is scrubbed in every text and every name, and nothing else', () => {
    const value = {
      a: ['x', 'a swordfish', { deep: 'say \\"quoted\\"' }],
      swordfish: 1,
      number: 12345,
      none: null,
      not: undefined,
      yes: true,
    };
    expect(scrubber.deep(value)).toEqual({
      a: ['x', 'a ********', { deep: 'say ********' }],
      '********': 1,
      number: 12345,
      none: null,
      not: undefined,
      yes: true,
    });
  });

  it('is returned unchanged if nothing is found, also in parts', () => {
    const clean = { a: [1, 'two', { three: new Date(0) }], url: new URL('https://a.test/') };
    expect(scrubber.deep(clean)).toBe(clean);
    const mixed = { clean, dirty: 'swordfish' };
    expect(scrubber.deep(mixed)).toEqual({ clean, dirty: '********' });
    expect(scrubber.deep(mixed).clean).toBe(clean);
  });

  it('retains exempt fields', () => {
    const value = { id: 'swordfish', inner: { id: 'swordfish', name: 'swordfish' } };
    expect(scrubber.deep(value, new Set(['id']))).toEqual({
      id: 'swordfish',
      inner: { id: 'swordfish', name: '********' },
    });
  });

  it('numbers field names that become equal', () => {
    const value = { swordfish: 1, '********': 2, '"quoted"': 3, '******** 2': 4 };
    const scrubbed = scrubber.deep(value);
    expect(Object.values(scrubbed)).toEqual([1, 2, 3, 4]);
    expect(Object.keys(scrubbed)[0]).toBe('********');
  });

  it('may have names like __proto__', () => {
    const value: unknown = JSON.parse('{"__proto__":"swordfish","a":1}');
    expect(JSON.stringify(scrubber.deep(value))).toBe('{"__proto__":"********","a":1}');
  });

  it('may be an error or an address', () => {
    const url = new URL('https://a.test/?q=swordfish');
    expect(JSON.stringify(scrubber.deep({ url }))).toBe('{"url":"https://a.test/?q=********"}');
    const cause = new Error('no swordfish');
    const scrubbed = scrubber.deep({ err: new TypeError('swordfish!', { cause }) });
    expect(JSON.stringify(scrubbed)).toContain('********!');
    expect(JSON.stringify(scrubbed)).toContain('no ********');
    expect(JSON.stringify(scrubbed)).not.toContain('swordfish');
  });

  it('may stand in itself, or be very deep', () => {
    const circle: Record<string, unknown> = { a: 'swordfish' };
    circle.self = circle;
    expect(JSON.stringify(scrubber.deep(circle))).toBe('{"a":"********","self":"********"}');
    let deep: unknown = 'swordfish';
    for (let level = 0; level < 20_000; level += 1) deep = [deep];
    expect(JSON.stringify(scrubber.deep(deep))).not.toContain('swordfish');
  });
});

describe('a line of JSON', () => {
  it('stays as it is where nothing is found', () => {
    const scrubber = createScrubber(['swordfish']);
    for (const line of ['{"a": 1.0, "a" : [ ] }', '12', '{"a":"\\u0061 \\n"}']) {
      expect(scrubber.json(line)).toBe(line);
    }
  });

  it('that is none becomes a string', () => {
    const scrubber = createScrubber(['swordfish']);
    expect(scrubber.json('no swordfish "here"')).toBe('"no ******** \\"here\\""');
  });

  it('stays JSON of the same shape for any secrets', () => {
    const secrets = fc.array(trickyText({ min: 3, max: 8 }), { minLength: 1, maxLength: 3 });
    const json = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(secrets, json, trickyText({ min: 0, max: 4 }), (values, other, around) => {
        fc.pre(!values.some((value) => value.includes('*')));
        const scrubber = createScrubber(values);
        const value = { other, [`${around}${values[0]}`]: [around + values.join(around)] };
        const line = scrubber.json(JSON.stringify(value));
        const parsed: unknown = JSON.parse(line);
        expect(parsed).toEqual(scrubber.deep(JSON.parse(JSON.stringify(value))));
        for (const text of Object.keys(Object(parsed)))
          expect(scrubber.holdsKnown(text)).toBe(false);
      }),
      { numRuns: caseCount(150) },
    );
  });
});

describe('a scrubber without secrets', () => {
  it('gives everything back as it is', async () => {
    const scrubber = createScrubber(['', 'abc']);
    const bytes = Buffer.from('abc');
    const value = { a: 'abc' };
    expect(scrubber.isIdle).toBe(true);
    expect(scrubber.text('abc')).toBe('abc');
    expect(scrubber.deep(value)).toBe(value);
    expect(scrubber.json('no JSON')).toBe('no JSON');
    expect(scrubber.holdsKnown('abc')).toBe(false);
    expect(await scrubber.bytes(bytes)).toBe(bytes);
  });
});

it('reports whether a text contains a secret, and returns bytes without one unchanged', async () => {
  const scrubber = createScrubber(['swordfish']);
  expect(scrubber.isIdle).toBe(false);
  expect(scrubber.holdsKnown('a c3dvcmRmaXNo')).toBe(true);
  expect(scrubber.holdsKnown('a swordfisch')).toBe(false);
  const clean = Buffer.from('a swordfisch');
  expect(await scrubber.bytes(clean)).toBe(clean);
});
