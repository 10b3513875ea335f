import { describe, expect, it } from 'vitest';
import { largestIcon } from '../../../../../src/service/status-pages/pictures/ico.ts';
import { bitmap, icon, PNG_IN_ICON } from '../../../../support/samples/icons.ts';

const RED = [255, 0, 0, 255];
const BLUE = [0, 0, 255, 255];
const NOTHING = [0, 0, 0, 0];

/** Pixels of four bytes, row by row. */
function pixelsOf(file: Buffer): number[][] {
  const found = largestIcon(file);
  if (found?.kind !== 'pixels') throw new Error('the icon has no pixels');
  return Array.from({ length: found.bytes.length / 4 }, (_, n) => [
    ...found.bytes.subarray(n * 4, n * 4 + 4),
  ]);
}

describe('the largest image of an icon file', () => {
  it('is a PNG file as it is in the file', () => {
    const small = { width: 1, height: 1, bits: 32, data: bitmap(1, 1, 32, [0, 0, 255, 255]) };
    const large = { width: 2, height: 1, bits: 32, data: PNG_IN_ICON };
    expect(largestIcon(icon([small, large]))).toEqual({ kind: 'png', bytes: PNG_IN_ICON });
  });

  it('is, of equal ones, that with the most colours', () => {
    const gray = {
      width: 1,
      height: 1,
      bits: 1,
      data: bitmap(1, 1, 1, [], [0, 0, 0, 0, 0, 0, 0, 0]),
    };
    const color = { width: 1, height: 1, bits: 32, data: bitmap(1, 1, 32, [0, 0, 255, 255]) };
    expect(pixelsOf(icon([gray, color]))).toEqual([RED]);
  });

  it('has its rows from the top, though the file has them from the bottom', () => {
    const data = bitmap(1, 2, 32, [255, 0, 0, 255, 0, 0, 255, 255]);
    expect(pixelsOf(icon([{ width: 1, height: 2, bits: 32, data }]))).toEqual([RED, BLUE]);
  });

  it('takes its transparency from the mask where no pixel has alpha', () => {
    // The mask has the first pixel transparent.
    const data = bitmap(2, 1, 32, [0, 0, 0, 0, 255, 0, 0, 0], [], [0x80, 0, 0, 0]);
    expect(pixelsOf(icon([{ width: 2, height: 1, bits: 32, data }]))).toEqual([NOTHING, BLUE]);
  });

  it.each([
    [1, [0x40]],
    [4, [0x01]],
    [8, [0, 1]],
  ])('has the colours of its palette with %i bits for a pixel', (bits, row) => {
    const palette = [0, 0, 255, 0, 255, 0, 0, 0];
    const data = bitmap(2, 1, bits, row, palette);
    expect(pixelsOf(icon([{ width: 2, height: 1, bits, data }]))).toEqual([RED, BLUE]);
  });

  it('has pixels of 24 bits', () => {
    const data = bitmap(2, 1, 24, [0, 0, 255, 255, 0, 0]);
    expect(pixelsOf(icon([{ width: 2, height: 1, bits: 24, data }]))).toEqual([RED, BLUE]);
  });
});

describe('a damaged icon file', () => {
  const whole = icon([
    {
      width: 2,
      height: 2,
      bits: 8,
      data: bitmap(2, 2, 8, [0, 1, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 0]),
    },
  ]);

  it('is refused wherever it ends, or read without its mask', () => {
    expect(largestIcon(whole)).not.toBeNull();
    for (let length = 0; length < whole.length; length += 1) {
      const found = largestIcon(whole.subarray(0, length));
      expect(found === null || found.bytes.length === 16).toBe(true);
    }
  });

  it('is refused or read, whichever of its bytes is another one', () => {
    for (let at = 0; at < whole.length; at += 1) {
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const changed = Buffer.from(whole);
        changed[at] = value;
        const found = largestIcon(changed);
        if (found?.kind === 'pixels') {
          expect(found.bytes.length).toBe(found.width * found.height * 4);
        }
      }
    }
  });

  it('is refused if it says that it is huge', () => {
    const data = bitmap(1, 1, 32, [0, 0, 255, 255]);
    data.writeInt32LE(0x7fffffff, 4);
    expect(largestIcon(icon([{ width: 0, height: 0, bits: 32, data }]))).toBeNull();
  });
});
