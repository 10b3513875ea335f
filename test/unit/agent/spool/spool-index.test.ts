import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PRIORITY_OF_KIND } from '../../../../src/agent/spool/drop-order.ts';
import { SPOOL_KINDS, type SpoolKind } from '../../../../src/agent/spool/spool.ts';
import { SpoolIndex } from '../../../../src/agent/spool/spool-index.ts';

function setUp() {
  const index = new SpoolIndex(() => {});
  const admit = (key: number, kind: SpoolKind = 'result'): void =>
    index.admit({ kind, id: String(key), atMs: 0, body: new Uint8Array(10) }, key, 0);
  const remove = (key: number): void => {
    const entry = index.find(key);
    if (entry !== null) index.remove(entry);
  };
  const keys = (after = -1): number[] => [...index.after(after)].map(({ key }) => key);
  return { index, admit, remove, keys };
}

describe('SpoolIndex', () => {
  it('contains the same records as a plain list, whatever is added and removed', () => {
    const step = fc.oneof(
      fc.constantFrom(...SPOOL_KINDS),
      fc.nat({ max: 40 }).map((nth) => ({ nth })),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), fc.nat({ max: 80 }), (steps, after) => {
        const { index, admit, remove, keys } = setUp();
        let list: { key: number; kind: SpoolKind }[] = [];
        for (const [key, each] of steps.entries()) {
          if (typeof each === 'string') {
            admit(key, each);
            list.push({ key, kind: each });
          } else {
            const gone = list[each.nth]?.key ?? -1;
            remove(gone);
            list = list.filter((one) => one.key !== gone);
          }
        }
        expect(keys()).toEqual(list.map(({ key }) => key));
        expect(keys(after)).toEqual(list.map(({ key }) => key).filter((key) => key > after));
        expect(index.depth.records).toBe(list.length);
        expect(index.oldest?.key).toBe(list[0]?.key);
        const spares = list.filter(({ kind }) => PRIORITY_OF_KIND[kind] === 'spare');
        expect(index.firstOf('spare')?.key).toBe(spares[0]?.key);
        expect(index.firstInMemory('spare', after)?.key).toBe(
          spares.find(({ key }) => key > after)?.key,
        );
      }),
    );
  });

  it('stays correct and fast when one record never leaves and all others do', () => {
    const { index, admit, remove, keys } = setUp();
    for (let key = 0; key < 50_000; key += 1) {
      admit(key);
      if (key > 10) remove(key - 5);
    }
    expect(keys()).toEqual([0, 1, 2, 3, 4, 5, 49_995, 49_996, 49_997, 49_998, 49_999]);
    expect(index.find(3)?.key).toBe(3);
    expect(index.find(100)).toBeNull();
    expect(index.depth).toEqual({ records: 11, bytes: 11 * 50 + 6 + 5 * 5 });
  });
});
