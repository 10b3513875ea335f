import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RemovableQueue } from '../../../../src/agent/scheduler/removable-queue.ts';

describe('RemovableQueue', () => {
  it('is first in, first out, even if items leave from the middle', () => {
    const action = fc.oneof(
      { weight: 3, arbitrary: fc.constant('push' as const) },
      { weight: 2, arbitrary: fc.constant('shift' as const) },
      { weight: 1, arbitrary: fc.nat() },
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 400 }), (actions) => {
        const line = new RemovableQueue<{ n: number }>();
        const model: { n: number }[] = [];
        actions.forEach((what, n) => {
          if (what === 'push') {
            const item = { n };
            line.push(item);
            model.push(item);
          } else if (what === 'shift') {
            expect(line.shift()).toBe(model.shift() ?? null);
          } else {
            const [item] = model.splice(what % (model.length + 1), 1);
            if (item !== undefined) expect(line.remove(item)).toBe(true);
          }
          expect(line.size).toBe(model.length);
        });
        expect([...line.items()]).toEqual(model);
      }),
    );
  });

  it('retains its order when thousands leave at once', () => {
    const line = new RemovableQueue<{ n: number }>();
    const items = Array.from({ length: 5000 }, (_, n) => ({ n }));
    for (const item of items) line.push(item);
    for (const item of items) if (item.n % 1000 !== 7) line.remove(item);
    expect([line.shift()?.n, line.shift()?.n, line.shift()?.n]).toEqual([7, 1007, 2007]);
    line.push({ n: -1 });
    expect([line.shift()?.n, line.shift()?.n, line.shift()?.n, line.shift()]).toEqual([
      3007,
      4007,
      -1,
      null,
    ]);
  });

  it('reports when the item was not in it', () => {
    const line = new RemovableQueue<object>();
    expect(line.remove({})).toBe(false);
  });
});
