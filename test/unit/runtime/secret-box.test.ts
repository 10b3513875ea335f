import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSecretBox, KEY_BYTES } from '../../../src/runtime/secret-box.ts';

const PLACE = ['variables', 'account', 'TOKEN'];
const newKey = (): Buffer => randomBytes(KEY_BYTES);

describe('a secret box', () => {
  it('decrypts any text as it was, and reveals nothing of it', () => {
    const box = createSecretBox([newKey()]);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 4 }), (text) => {
        const sealed = box.seal(text, PLACE);
        expect(box.open(sealed, PLACE)).toBe(text);
        expect(sealed.includes(Buffer.from(text))).toBe(false);
      }),
    );
  });

  it('encrypts the same text differently each time', () => {
    const box = createSecretBox([newKey()]);
    expect(box.seal('text', PLACE)).not.toEqual(box.seal('text', PLACE));
  });

  it('digests a text in the same way for its keys, and in another for other purposes', () => {
    const [before, after] = [newKey(), newKey()];
    const digestsBy = (...keys: [Buffer, ...Buffer[]]) =>
      createSecretBox(keys)
        .digests('text', 'search')
        .map((digest) => digest.toString('hex'));
    const [old] = digestsBy(before);
    expect(digestsBy(after, before)).toEqual([digestsBy(after)[0], old]);
    const box = createSecretBox([before]);
    expect(box.digests('text', 'other')[0].toString('hex')).not.toBe(old);
    expect(box.digests('another text', 'search')[0].toString('hex')).not.toBe(old);
  });

  it('decrypts nothing with a changed byte', () => {
    const box = createSecretBox([newKey()]);
    const sealed = box.seal('text', PLACE);
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => box.open(changed, PLACE)).toThrow(/cannot be decrypted/);
    }
    for (const short of [Buffer.alloc(0), sealed.subarray(0, 20)]) {
      expect(() => box.open(short, PLACE)).toThrow(/cannot be decrypted/);
    }
  });

  it('decrypts nothing in another context', () => {
    const box = createSecretBox([newKey()]);
    const sealed = box.seal('text', ['variables', 'a', 'bc']);
    expect(() => box.open(sealed, ['variables', 'ab', 'c'])).toThrow(/copied from another place/);
  });

  it('encrypts with a new first key, and still decrypts with the old one', () => {
    const [old, fresh] = [newKey(), newKey()];
    const sealed = createSecretBox([old]).seal('text', PLACE);
    const both = createSecretBox([fresh, old]);
    expect(both.open(sealed, PLACE)).toBe('text');
    const resealed = both.seal('text', PLACE);
    expect(createSecretBox([fresh]).open(resealed, PLACE)).toBe('text');
    expect(() => createSecretBox([fresh]).open(sealed, PLACE)).toThrow(/key is missing/);
    expect(both.hasKeyOf(sealed)).toBe(true);
    expect(createSecretBox([fresh]).hasKeyOf(sealed)).toBe(false);
    expect(both.hasKeyOf(Buffer.alloc(0))).toBe(false);
  });
});
