import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildScrubber, createScrubber } from '../../../src/scrub/scrubber.ts';
import { IS_NIGHTLY } from '../../support/nightly.ts';
import { ENCODERS } from '../../support/samples/secret-encodings.ts';
import { trickyText } from '../../support/samples/tricky-texts.ts';

async function* piecesOf(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (let piece = 0; at < bytes.length; piece += 1) {
    const to = at + (sizes[piece % sizes.length] ?? bytes.length);
    yield bytes.subarray(at, to);
    at = to;
  }
}

async function joined(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(Buffer.from(piece));
  return Buffer.concat(parts);
}

const ENCODE = fc.constantFrom((text: string) => text, ...Object.values(ENCODERS));
const SHORT = trickyText({ min: 4, max: 30 });
const LONG = fc
  .tuple(SHORT, fc.integer({ min: 20, max: 400 }))
  .map(([text, count]) => text.repeat(count));
const SECRETS = fc.array(
  fc.oneof({ weight: 4, arbitrary: SHORT }, { weight: 1, arbitrary: LONG }),
  {
    minLength: 1,
    maxLength: 4,
  },
);
/** A secret in two encodings, whole or cut; or something else. */
const PART = fc.record({
  secret: fc.nat(),
  inner: ENCODE,
  outer: ENCODE,
  share: fc.constantFrom(1, 1, 1, 0.5),
  between: trickyText({ min: 0, max: 200 }),
});

describe('a text in pieces', () => {
  it('masks a text in pieces like the whole text, wherever it is cut', async () => {
    const cases = fc.record({
      secrets: SECRETS,
      parts: fc.array(PART, { minLength: 1, maxLength: 12 }),
      sizes: fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ secrets, parts, sizes }) => {
        const text = parts
          .map(({ secret, inner, outer, share, between }) => {
            const encoded = outer(inner(secrets[secret % secrets.length] ?? ''));
            return encoded.slice(0, encoded.length * share) + between;
          })
          .join('');
        const scrubber = createScrubber(secrets);
        const bytes = Buffer.from(text);
        const whole = Buffer.from(await scrubber.bytes(bytes));
        expect(scrubber.text(bytes.toString())).toBe(whole.toString());
        const streamed = await joined(scrubber.stream(piecesOf(bytes, sizes)));
        expect(streamed.equals(whole)).toBe(true);
      }),
      { numRuns: IS_NIGHTLY ? 35 : 4 },
    );
  });

  it('masks a secret in pieces of one byte each', async () => {
    const secret = 'correct "horse" battery';
    const text = `<${secret}> ${JSON.stringify({ secret })} ${Buffer.from(secret).toString('base64')}`;
    const scrubber = createScrubber([secret]);
    const masked = await joined(scrubber.stream(piecesOf(Buffer.from(text), [1])));
    expect(masked.toString()).toBe('<********> {"secret":"********"} ********');
  });

  it('returns decided bytes, and delays at most the length of a secret', async () => {
    const scrubber = createScrubber(['swordfish']);
    let given = 0;
    let taken = 0;
    let mostHeld = 0;
    const source = async function* (): AsyncGenerator<Uint8Array> {
      for (let piece = 0; piece < 32; piece += 1) {
        mostHeld = Math.max(mostHeld, given - taken);
        given += 65_536;
        yield Buffer.alloc(65_536, 'nothing to see, ');
      }
    };
    for await (const piece of scrubber.stream(source())) taken += piece.length;
    expect(taken).toBe(given);
    expect(mostHeld).toBeLessThan(8192);
  });

  it('may end early', async () => {
    const scrubber = createScrubber(['swordfish']);
    let isOver = false;
    const source = async function* (): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.alloc(4096, 'x');
      } finally {
        isOver = true;
      }
    };
    for await (const piece of scrubber.stream(source())) {
      expect(piece.length).toBeGreaterThan(0);
      break;
    }
    expect(isOver).toBe(true);
    expect(scrubber.text('a swordfish')).toBe('a ********');
  });

  it('masks several texts concurrently', async () => {
    let turns = 0;
    const scrubber = await buildScrubber(['swordfish'], async () => {
      turns += 1;
      await new Promise<void>((resolve) => void setImmediate(resolve));
    });
    const texts = Array.from({ length: 8 }, (_, at) =>
      Buffer.from(`${at} is not a swordfish. `.repeat(8_000)),
    );
    const masked = await Promise.all(texts.map((text) => scrubber.bytes(text)));
    for (const [at, bytes] of masked.entries()) {
      expect(Buffer.from(bytes).toString()).toBe(`${at} is not a ********. `.repeat(8_000));
    }
    expect(turns).toBeGreaterThan(8);
  });
});
