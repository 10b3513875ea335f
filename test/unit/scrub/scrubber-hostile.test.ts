import { describe, expect, it } from 'vitest';
import { buildScrubber } from '../../../src/scrub/scrubber.ts';

/** Yields depend on the work, not on the time, so they show how the work grows. */
async function turnsFor(secrets: readonly string[], text: string): Promise<number> {
  let turns = 0;
  const scrubber = await buildScrubber(secrets, async () => {
    turns += 1;
  });
  turns = 0;
  await scrubber.bytes(Buffer.from(text));
  return turns;
}

const SAME_BEGINNING = 'the-same-sixty-characters-are-at-the-beginning-of-each-one-/';
const BACKSLASHES = ['\\\\\\\\"\\\\"\\"a1b2', `${'"\\'.repeat(20)}x1`];

describe('the work', () => {
  it.each([
    { name: 'near misses', secrets: ids(1000), piece: `${SAME_BEGINNING}x` },
    { name: 'one byte, of which secrets begin', secrets: [`${'a'.repeat(20_000)}b`], piece: 'a' },
    { name: 'one secret after another', secrets: ['a'.repeat(20_000)], piece: 'a' },
    { name: 'one in each length', secrets: powers(), piece: 'a' },
    { name: 'a long secret, escaped', secrets: ['a'.repeat(20_000)], piece: '%61' },
    { name: 'a secret of escapes', secrets: ['%61'.repeat(5_000)], piece: '%61' },
    { name: 'backslashes', secrets: BACKSLASHES, piece: '\\' },
    { name: 'backslashes and quotes', secrets: BACKSLASHES, piece: '"\\' },
    { name: 'percent signs', secrets: ['%25%25%25x'], piece: '%25' },
    { name: 'ampersands', secrets: ['&amp;&amp;x'], piece: '&amp;' },
    { name: 'digits of base64, escaped', secrets: ['hunter22'], piece: '%2B' },
    { name: 'base64 of nearly a secret', secrets: ids(100), piece: nearlyInBase64() },
    { name: 'hexadecimal', secrets: ['hunter22'], piece: '68756e74657232' },
  ])('on $name grows with the text, not faster', async ({ secrets, piece }) => {
    const size = 20_000;
    const once = piece.repeat(size / piece.length);
    const [single, double] = [await turnsFor(secrets, once), await turnsFor(secrets, once + once)];
    expect(double).toBeLessThanOrEqual(single * 2.3 + 2);
    // At most some hundred steps per byte.
    expect(single).toBeLessThan(size / 250);
  });

  it('does not grow with the number of secrets', async () => {
    const text = 'a text in which there is none of them, and nothing like it. '.repeat(5_000);
    const many = Array.from({ length: 5_000 }, (_, at) => `${at * 7919} is a secret`);
    const few = await turnsFor(ids(1), text);
    expect(await turnsFor(many, text)).toBeLessThanOrEqual(few * 3 + 2);
  });

  it('of adding secrets is done in slices, and grows with their number', async () => {
    const turnsOf = async (secrets: readonly string[]): Promise<number> => {
      let turns = 0;
      await buildScrubber(secrets, async () => {
        turns += 1;
      });
      return turns;
    };
    const values = Array.from({ length: 500 }, (_, at) => `${at}-`.repeat(150));
    const [half, all] = [await turnsOf(values.slice(0, 250)), await turnsOf(values)];
    expect(half).toBeGreaterThan(20);
    expect(all).toBeLessThan(half * 3);
  });
});

describe('a long secret', () => {
  it('is masked, and so is a long part of it', async () => {
    const secret = Array.from({ length: 4_000 }, (_, at) => `${at} "é" `).join('');
    const scrubber = await buildScrubber([secret], async () => undefined);
    expect(scrubber.text(`<${secret}>`)).toBe('<********>');
    expect(scrubber.text(JSON.stringify(JSON.stringify({ secret })))).not.toContain('1234');
    expect(scrubber.text(Buffer.from(`a${secret}`).toString('base64'))).toMatch(/^.?.?\*{8}$/);
    const part = scrubber.text(`<${secret.slice(0, 20_000)}>`);
    expect(part).toMatch(/^<\*{8}/);
    expect(part.length).toBeLessThan(10_000);
    expect(scrubber.text(`<${secret.slice(0, 1_000)}>`)).toContain(secret.slice(0, 1_000));
  });
});

function ids(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${SAME_BEGINNING}${at}`);
}

function powers(): readonly string[] {
  return Array.from({ length: 300 }, (_, at) => 'a'.repeat(at + 4));
}

function nearlyInBase64(): string {
  return Buffer.from(`${SAME_BEGINNING}"x`).toString('base64').replaceAll('=', '');
}
