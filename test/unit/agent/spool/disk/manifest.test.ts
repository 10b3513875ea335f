import { describe, expect, it } from 'vitest';
import { decodeManifest, encodeNotes } from '../../../../../src/agent/spool/disk/manifest.ts';

const slots = { checkId: 'a-check', slot: 60_000, lastSlot: 60_000, count: 1 };
const range = { checkId: 'b', slot: 0, lastSlot: 20_000, count: 3 };

describe('a manifest', () => {
  const lines = [
    encodeNotes([
      { type: 'result', key: 12, number: 7, slots },
      { type: 'missed', key: 13, number: 8, slots: range },
      { type: 'attempt', key: 14, number: 9 },
    ]),
    encodeNotes([{ type: 'removal', key: 20, number: 10, keys: [3, -4] }]),
  ].map(String);

  it('returns the notes of each frame', () => {
    expect(decodeManifest(lines.join(''))).toEqual([
      { kind: 'result', number: 7, key: 12, slots },
      { kind: 'missed', number: 8, key: 13, slots: range },
      { kind: 'attempt', number: 9, key: 14, slots: null },
      { kind: 'removal', number: 10, keys: [3, -4] },
    ]);
  });

  it('skips lines that are cut, changed or of another form', () => {
    const [first = '', second = ''] = lines;
    const strange = encodeNotes([{ type: 'removal', key: 1, number: 0.5, keys: [] }]).toString();
    expect(decodeManifest(`${first.replace('12', '13')}\0\0\0\n${strange}${second}`)).toEqual([
      { kind: 'removal', number: 10, keys: [3, -4] },
    ]);
    for (let length = 0; length < first.length - 1; length += 1) {
      expect(decodeManifest(first.slice(0, length))).toEqual([]);
    }
    expect(decodeManifest('')).toEqual([]);
  });
});
