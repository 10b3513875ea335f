import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildPartMask,
  createPartMask,
  MAX_INDEXED_CHARS,
  MIN_PART_CHARS,
} from '../../../src/scrub/secret-parts.ts';

const SECRET = 'kP7-vx Qm/92+hZ"tü_Lw4';
const MASK = '********';

describe('parts of a secret', () => {
  it('are masked from eight characters on, wherever they are cut', () => {
    const mask = createPartMask([SECRET]);
    for (let from = 0; from < SECRET.length; from += 1) {
      for (let to = from + 1; to <= SECRET.length; to += 1) {
        const part = SECRET.slice(from, to);
        const isLong = part.length >= MIN_PART_CHARS;
        expect(mask.text(`<${part}>`)).toBe(isLong ? `<${MASK}>` : `<${part}>`);
        expect(mask.holdsPart(`<${part}>`)).toBe(isLong);
      }
    }
  });

  it.each<[string, (text: string) => string]>([
    ['JSON', (text) => JSON.stringify(text).slice(1, -1)],
    ['a URL', encodeURIComponent],
    ['hex', (text) => Buffer.from(text).toString('hex')],
    ['base64', (text) => Buffer.from(`u:${text}`).toString('base64')],
    ['base64 at another place', (text) => Buffer.from(`us:${text}`).toString('base64')],
    ['base64url', (text) => Buffer.from(`use:${text}`).toString('base64url')],
  ])('are masked also in %s', (_name, encode) => {
    const mask = createPartMask([SECRET]);
    const encoded = encode(SECRET);
    const middle = encoded.slice(6, -6);
    expect(middle.length).toBeGreaterThan(MIN_PART_CHARS);
    expect(mask.text(`<${middle}>`)).toBe(`<${MASK}>`);
  });

  it('that touch or overlap have one mask', () => {
    const mask = createPartMask(['abcdefghijkl', 'ijklmnopqrst']);
    expect(mask.text('-abcdefghijklmnopqrst-')).toBe(`-${MASK}-`);
    expect(mask.text('abcdefghabcdefgh')).toBe(MASK);
    expect(mask.text('abcdefgh abcdefgh')).toBe(`${MASK} ${MASK}`);
  });

  it('are not those of two secrets that happen to stand side by side', () => {
    expect(createPartMask(['abcdefghij', 'klmnopqrst']).text('ghijklmn')).toBe('ghijklmn');
  });

  it('of an address are masked in its password and behind its host', () => {
    const mask = createPartMask(['postgres://postgres:s3cr3t-pass@database.internal/path-of-mine']);
    expect(mask.text('postgres://postgres at database.internal')).toBe(
      'postgres://postgres at database.internal',
    );
    expect(mask.text('cr3t-pass and h-of-mine')).toBe(`${MASK} and ${MASK}`);
  });

  it('that are mere lines are none', () => {
    const pem = '-----BEGIN KEY-----\nMIIBVgIBADANBgkq';
    expect(createPartMask([pem]).text('------------')).toBe('------------');
    expect(createPartMask([pem]).text('MIIBVgIBAD')).toBe(MASK);
  });

  it('are not masked beyond the capacity of the index, and are counted', async () => {
    const first = 'abcdefgh-first';
    // One form alone is longer than there is room for.
    const long = Array.from({ length: MAX_INDEXED_CHARS / 8 + 1 }, (_, n) =>
      String(n).padStart(8, 'x'),
    ).join('');
    let turns = 0;
    const mask = await buildPartMask([first, long], async () => {
      turns += 1;
    });
    expect(mask.text('cdefgh-first')).toBe(MASK);
    expect(mask.charsLeftOut).toBeGreaterThanOrEqual(long.length);
    expect(turns).toBeGreaterThan(0);
  });

  it('are found in any text, and nothing else is', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), maxLength: 40 });
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 5 }), letters, (secrets, text) => {
        const mask = createPartMask(secrets);
        const isPart = (at: number): boolean => {
          const part = text.slice(at, at + MIN_PART_CHARS);
          return (
            part.length === MIN_PART_CHARS &&
            new Set(part).size >= 3 &&
            secrets.some((secret) => secret.includes(part))
          );
        };
        const expected = Array.from({ length: text.length }, (_, at) => at).some(isPart);
        expect(mask.holdsPart(text)).toBe(expected);
        expect(mask.text(text) !== text).toBe(expected);
        expect(mask.holdsPart(mask.text(text).replaceAll(MASK, '|'))).toBe(false);
      }),
    );
  });
});
