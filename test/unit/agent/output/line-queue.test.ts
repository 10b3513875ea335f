import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LINE_KINDS, type LineKind, LineQueue } from '../../../../src/agent/output/line-queue.ts';
import { Queue } from '../../../../src/runtime/fifo-queue.ts';

const line = (kind: LineKind, text: string) => ({ kind, bytes: Buffer.from(text) });

function drain(queue: LineQueue): string[] {
  const texts: string[] = [];
  for (let next = queue.shift(); next !== null; next = queue.shift()) {
    texts.push(next.bytes.toString());
  }
  return texts;
}

describe('LineQueue', () => {
  it('returns lines of all kinds in the order of arrival', () => {
    const queue = new LineQueue(1000, () => {});
    for (const [index, kind] of (
      ['result', 'attempt', 'missed', 'attempt', 'result'] as const
    ).entries()) {
      queue.push(line(kind, String(index)));
    }
    expect(queue.length).toBe(5);
    expect(drain(queue)).toEqual(['0', '1', '2', '3', '4']);
    expect(queue.length).toBe(0);
  });

  it('drops the oldest attempts first, then the oldest results, then missed slots', () => {
    const dropped: LineKind[] = [];
    const queue = new LineQueue(5, (kind) => dropped.push(kind));
    queue.push(line('missed', 'm'));
    queue.push(line('result', 'r'));
    queue.push(line('attempt', 'a'));
    queue.push(line('result', 's'));
    queue.push(line('attempt', 'b'));
    expect(dropped).toEqual([]);
    queue.push(line('result', 't'));
    expect(dropped).toEqual(['attempt']);
    queue.push(line('result', 'uv'));
    expect(dropped).toEqual(['attempt', 'attempt', 'result']);
    expect(drain(queue)).toEqual(['m', 's', 't', 'uv']);
  });

  it('drops a line larger than its bound', () => {
    const dropped: LineKind[] = [];
    const queue = new LineQueue(3, (kind) => dropped.push(kind));
    queue.push(line('result', 'large'));
    expect(dropped).toEqual(['result']);
    expect(queue.shift()).toBeNull();
  });

  it('never exceeds its bound, and counts every line', () => {
    const operation = fc.record({
      kind: fc.constantFrom(...LINE_KINDS),
      bytes: fc.integer({ min: 1, max: 40 }),
      shift: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
        let dropped = 0;
        let taken = 0;
        const queue = new LineQueue(100, () => {
          dropped += 1;
        });
        for (const { kind, bytes, shift } of operations) {
          queue.push({ kind, bytes: Buffer.alloc(bytes) });
          if (shift && queue.shift() !== null) taken += 1;
        }
        const left = drain(queue);
        expect(left.join('').length).toBeLessThanOrEqual(100);
        expect(dropped + taken + left.length).toBe(operations.length);
      }),
    );
  });
});

describe('Queue', () => {
  it('keeps the order over many items', () => {
    const fifo = new Queue<number>();
    let next = 0;
    for (let item = 0; item < 10_000; item += 1) {
      fifo.push(item);
      if (item % 3 !== 0) {
        expect(fifo.peek()).toBe(next);
        expect(fifo.shift()).toBe(next);
        next += 1;
      }
    }
    expect(fifo.length).toBe(10_000 - next);
    while (fifo.length > 0) {
      expect(fifo.shift()).toBe(next);
      next += 1;
    }
    expect(fifo.shift()).toBeNull();
  });
});
