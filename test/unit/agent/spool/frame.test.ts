import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeKeys,
  encodeFrames,
  encodeKeys,
  type Frame,
  findFrame,
  frameBytes,
  isTornWrite,
  readFrame,
} from '../../../../src/agent/spool/frame.ts';
import { SPOOL_KINDS } from '../../../../src/agent/spool/spool.ts';

const frames = fc.array(
  fc.record<Frame>({
    type: fc.constantFrom(...SPOOL_KINDS, 'removal'),
    key: fc.maxSafeNat(),
    number: fc.maxSafeNat(),
    atMs: fc.integer({ min: 0, max: 2 ** 45 }),
    id: fc.string({ unit: 'binary', maxLength: 40 }),
    body: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  }),
  { minLength: 1, maxLength: 5 },
);

describe('frames', () => {
  it('are read as they were written, one after the other', () => {
    fc.assert(
      fc.property(frames, (written) => {
        const { bytes, offsets } = encodeFrames(written);
        let end = 0;
        for (const [index, frame] of written.entries()) {
          expect(offsets[index]).toBe(end);
          const found = readFrame(bytes, end);
          expect(found?.frame).toEqual(frame);
          expect(found?.bytes).toBe(frameBytes(frame.id, frame.body.length));
          end += found?.bytes ?? 0;
        }
        expect(end).toBe(bytes.length);
      }),
    );
  });

  it('are not read with any bit changed, or with a missing end', () => {
    const { bytes } = encodeFrames([
      { type: 'result', key: 7, number: 3, atMs: 1, id: 'an-id', body: Buffer.from('{"a":1}') },
    ]);
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(readFrame(changed, 0)).toBeNull();
    }
    for (let size = 0; size < bytes.length; size += 1) {
      expect(readFrame(bytes.subarray(0, size), 0)).toBeNull();
      expect(isTornWrite(bytes.subarray(0, size), 0)).toBe(true);
      // The file had grown to its length before.
      const grown = Buffer.alloc(bytes.length);
      bytes.copy(grown, 0, 0, size);
      expect(isTornWrite(grown, 0)).toBe(true);
    }
  });

  it('are found again behind other bytes', () => {
    const frame = { type: 'missed', key: 1, number: 1, atMs: 1, id: 'x', body: Buffer.from('y') };
    const { bytes } = encodeFrames([frame as Frame]);
    const broken = bytes.subarray(0, 20);
    const all = Buffer.concat([broken, Buffer.from('garbage'), bytes]);
    expect(findFrame(all, 0)).toBe(27);
    expect(findFrame(all, 28)).toBeNull();
    expect(isTornWrite(Buffer.from('garbage'), 0)).toBe(false);
    expect(isTornWrite(Buffer.alloc(100), 0)).toBe(true);
  });

  it('contain keys of any size that a record can have', () => {
    const keys = [0, 1, 2 ** 32, Number.MAX_SAFE_INTEGER];
    expect(decodeKeys(encodeKeys(keys))).toEqual(keys);
  });
});
