import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MASK } from '../../../src/model/credentials/mask.ts';
import { createScrubber } from '../../../src/scrub/scrubber.ts';
import { caseCount } from '../../support/nightly.ts';
import { ENCODERS } from '../../support/samples/secret-encodings.ts';
import { trickyText } from '../../support/samples/tricky-texts.ts';

interface Form {
  readonly inner: string;
  /** Empty if the secret is encoded once. */
  readonly outer: string;
}

const NAMES = Object.keys(ENCODERS);
const ONCE: readonly Form[] = ['', ...NAMES].map((inner) => ({ inner, outer: '' }));
const TWICE: readonly Form[] = NAMES.flatMap(
  (inner) => NAMES.map((outer) => ({ inner, outer })),
  // No program escapes hexadecimal digits.
).filter(({ inner, outer }) => !(inner.startsWith('hex') && outer.endsWith('of everything')));

/** A mask replaces at most the rest of an escape and some padding around the secret. */
const MAX_LOST = 12;

function encode(name: string, text: string): string {
  return ENCODERS[name]?.(text) ?? text;
}

/** How many base64 digits may remain before the mask: they also encode the letters before. */
function leadOf(name: string): number {
  return name.includes('after two')
    ? 2
    : name.includes('after a') || name.includes('before')
      ? 1
      : 0;
}

function leadSize({ inner, outer }: Form): number {
  const digits = leadOf(inner);
  const ofInner = digits === 0 ? 0 : encode(outer, 'Y'.repeat(digits)).length + 3;
  return ofInner + (leadOf(outer) === 0 ? 0 : leadOf(outer) + 2);
}

function tailSize({ inner, outer }: Form): number {
  const ofInner = inner.includes('before') ? encode(outer, 'enl4==').length + 6 : 0;
  return ofInner + (outer.includes('before') ? 8 : 0);
}

/** Says which part of a secret is not masked, or that too much is; null if neither. */
function fault(form: Form, secret: string, before: string, after: string): string | null {
  const encoded = encode(form.outer, encode(form.inner, secret));
  const text = before + encoded + after;
  const masked = createScrubber([secret]).text(text);
  const from = masked.indexOf(MASK);
  if (from < 0) return 'not masked';
  const to = text.length - (masked.length - masked.lastIndexOf(MASK) - MASK.length);
  if (!masked.startsWith(text.slice(0, from)) || !masked.endsWith(text.slice(to))) return 'changed';
  if (from > before.length + leadSize(form)) return 'its beginning is left';
  if (to < before.length + encoded.length - tailSize(form)) return 'its end is left';
  if (from < before.length - MAX_LOST) return 'too much is masked before it';
  return to > before.length + encoded.length + MAX_LOST ? 'too much is masked behind it' : null;
}

/** False if the text is too short to mask, or looks like a mask itself. */
function isSecret(secret: string): boolean {
  return !createScrubber([secret]).isIdle && !secret.includes('***');
}

/** Whether the text contains the secret as it is or without white space at its ends. */
function isMaskedIn(secret: string, text: string): boolean {
  return createScrubber([secret]).holdsKnown(text);
}

const SECRET = trickyText({ min: 4, max: 12 }).filter(isSecret);
const AROUND = trickyText({ min: 0, max: 4 });

describe('a secret in a text', () => {
  it.each(ONCE)('is masked plain or as $inner, and nothing else', (form) => {
    fc.assert(
      fc.property(SECRET, AROUND, AROUND, (secret, before, after) => {
        fc.pre(!isMaskedIn(secret, before) && !isMaskedIn(secret, after));
        expect(fault(form, secret, before, after)).toBeNull();
      }),
      { numRuns: caseCount(60) },
    );
  });

  it('is masked in every encoding inside every other', () => {
    fc.assert(
      fc.property(SECRET, AROUND, AROUND, (secret, before, after) => {
        fc.pre(!isMaskedIn(secret, before) && !isMaskedIn(secret, after));
        const faults = TWICE.flatMap((form) => {
          const found = fault(form, secret, before, after);
          return found === null ? [] : [`${form.outer} of ${form.inner}: ${found}`];
        });
        expect(faults).toEqual([]);
      }),
      { numRuns: caseCount(25) },
    );
  });

  it.each([
    // Each was once overlooked.
    { secret: 'xl3 ', text: 'eGwzKw==', form: 'base64 of a plus at the end' },
    { secret: 'a"😀b', text: 'a\\\\\\"\\\\ud83d\\\\ude00b', form: 'a pair of surrogates, twice' },
    { secret: 'é\n\n2+', text: '0%4dzZrS0NqSXI', form: 'base64 twice behind half an escape' },
    { secret: 'n4 3c32', text: 'u\\%2bjQgM2MzMg==', form: 'base64 behind half of two escapes' },
    {
      secret: 'q"uote',
      text: 'q\\\\\\\\\\\\\\"uote',
      form: 'JSON, three times',
    },
    { secret: 'a/b c', text: 'a%25252Fb%252520c', form: 'a URL, three times' },
    { secret: '<a&b>', text: '&amp;amp;lt;a&amp;amp;amp;b&amp;amp;gt;', form: 'HTML, three times' },
    { secret: 'größe', text: 'gr&ouml;&szlig;e', form: 'names of HTML' },
    { secret: 'größe', text: 'gr%F6%DFe', form: 'Latin-1 in a URL' },
    { secret: 'größe', text: 'grÃ¶ÃŸe'.replace('Ÿ', '\u009f'), form: 'a header that was misread' },
    { secret: 'pass\x07word', text: 'pass\\x07word', form: 'a string of a program' },
    { secret: 'one\r\ntwo', text: 'one%0d%0atwo', form: 'small letters' },
    { secret: ' at the ends ', text: 'at the ends', form: 'no white space around it' },
    { secret: 'a;b=c', text: 'a&#59b&#61c', form: 'HTML without semicolons' },
  ])('is masked as $form', ({ secret, text }) => {
    const masked = createScrubber([secret]).text(`(${text})`);
    expect(masked).toContain(MASK);
    expect(masked.length).toBeLessThan(MASK.length + 12);
  });

  it.each([
    { secret: 'nordfish and chips', others: ['nord'], title: 'a secret that begins like it' },
    { secret: 'n"""\t', others: [], title: 'white space at its end' },
  ])('is masked to its end in base64 behind half an escape, with $title', ({ secret, others }) => {
    const scrubber = createScrubber([secret, ...others]);
    expect(scrubber.text(`%2${Buffer.from(secret).toString('base64')}`)).toBe(MASK);
  });

  it('is masked in base64 with lines of any length from 40 on', () => {
    const secret = 'correct horse battery staple';
    const scrubber = createScrubber([secret]);
    const encoded = Buffer.from(`${'x'.repeat(70)}${secret}${'y'.repeat(70)}`).toString('base64');
    for (const size of [40, 64, 76]) {
      for (const lineBreak of ['\n', '\r\n', '\\n', '\\r\\n']) {
        const text = encoded.replaceAll(new RegExp(`.{${size}}`, 'g'), `$&${lineBreak}`);
        const masked = scrubber.text(text);
        expect(masked).toContain(MASK);
        expect(Buffer.from(masked, 'base64').toString('latin1')).not.toMatch(/horse|attery/);
      }
    }
  });

  it('is not masked where there is none', () => {
    const scrubber = createScrubber(['swordfish', 'a+b c/d', '100% "sure"']);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(scrubber.text(text)).toBe(text);
      }),
      { numRuns: caseCount(50) },
    );
  });
});
