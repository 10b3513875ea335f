import { expect, it } from 'vitest';
import { WaitingFaults } from '../../../../src/agent/error-reports/waiting-faults.ts';

const kind = (n: number) => ({
  class: 'Error',
  code: null,
  frames: [{ function: null, file: 'node:fs', path: null, line: n, column: 1 }],
});

function taken(waiting: WaitingFaults) {
  const all = [];
  for (let one = waiting.take(); one !== null; one = waiting.take()) all.push(one);
  return all.map(({ frames, count, firstAtMs, lastAtMs }) => [
    frames[0]?.line,
    count,
    firstAtMs,
    lastAtMs,
  ]);
}

it('counts a repeated error, also where the clock was set back', () => {
  const waiting = new WaitingFaults();
  waiting.add(kind(1), 1000);
  waiting.add(kind(2), 1500);
  waiting.add(kind(1), 3000);
  waiting.add(kind(1), 500);
  expect(taken(waiting)).toEqual([
    [1, 3, 500, 3000],
    [2, 1, 1500, 1500],
  ]);
});

it('stores a hundred kinds, and counts what it drops', () => {
  const waiting = new WaitingFaults();
  for (let n = 0; n < 130; n += 1) waiting.add(kind(n), 1);
  waiting.add(kind(0), 2);
  expect(waiting.size).toBe(100);
  expect([waiting.takeDropped(), waiting.takeDropped()]).toEqual([30, 0]);
  expect(taken(waiting)[0]).toEqual([0, 2, 1, 2]);
});

it('puts unsent errors back before newer ones', () => {
  const waiting = new WaitingFaults();
  waiting.add(kind(1), 1000);
  const first = waiting.take();
  for (let n = 1; n <= 100; n += 1) waiting.add(kind(n), 2000);
  waiting.add(kind(0), 3000);
  waiting.putBack(first === null ? [] : [first]);
  expect(waiting.takeDropped()).toBe(1);
  expect(taken(waiting).slice(0, 2)).toEqual([
    [1, 2, 1000, 2000],
    [2, 1, 2000, 2000],
  ]);
});
