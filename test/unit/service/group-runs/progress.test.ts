import { describe, expect, it } from 'vitest';
import {
  groupVerdictOf,
  haveEnded,
  type Member,
  type MemberState,
  nextMembers,
} from '../../../../src/service/group-runs/progress.ts';

/** Members of one location by their order and state, for example `1 done, 2 pending, - pending`. */
function membersOf(text: string, location = 'cellar'): readonly Member[] {
  return text.split(', ').map((one) => {
    const [order = '', state = ''] = one.split(' ');
    const groupOrder = order === '-' ? null : Number(order);
    return { groupOrder, location, state: state as MemberState };
  });
}

const indexesOf = (all: readonly Member[], some: readonly Member[]): readonly number[] =>
  some.map((one) => all.indexOf(one));

describe('the next checks of a group run', () => {
  it.each([
    ['1 pending, 1 pending, 2 pending', 3, [0, 1]],
    ['1 done, 1 started, 2 pending', 3, []],
    ['1 done, 1 expired, 2 pending, 2 pending', 3, [2, 3]],
    ['1 skipped, 2 pending', 3, [1]],
    ['1 pending, 1 pending, 1 pending', 2, [0, 1]],
    ['1 started, 1 done, 1 pending, 1 pending', 2, [2]],
    ['1 started, 1 started, 1 pending', 1, []],
    ['0 cancelled, 2.5 pending, 10 pending', 3, [1]],
    ['- pending, 7 pending', 3, [1]],
    ['- pending, 7 done, - pending', 3, [0, 2]],
    ['1 done, 2 skipped', 3, []],
  ] as const)('of %s, %i at once, are %j', (text, concurrency, wanted) => {
    const members = membersOf(text);
    expect(indexesOf(members, nextMembers(members, concurrency))).toEqual(wanted);
  });

  it('are found in each location by itself', () => {
    const members = [
      ...membersOf('1 started, 2 pending', 'cellar'),
      ...membersOf('1 done, 2 pending', 'attic'),
    ];
    expect(indexesOf(members, nextMembers(members, 1))).toEqual([3]);
  });
});

describe('a group run', () => {
  it.each([
    ['1 done, 1 expired, 1 skipped, 2 cancelled', true],
    ['1 done, 2 pending', false],
    ['1 done, 2 started', false],
  ] as const)('of %s has ended: %s', (text, wanted) => {
    expect(haveEnded(membersOf(text))).toBe(wanted);
  });

  it.each([
    ['passed', ['passed', 'passed']],
    ['degraded', ['passed', 'degraded']],
    ['failed', ['passed', 'failed', null, 'error']],
    ['incomplete', ['passed', 'degraded', null]],
    ['incomplete', ['passed', 'error']],
    ['incomplete', ['passed', 'cancelled']],
    ['incomplete', []],
  ] as const)('has the verdict %s after %j', (wanted, verdicts) => {
    const done = verdicts.map((verdict) => ({ state: 'done', verdict }) as const);
    expect(groupVerdictOf([...done, { state: 'skipped', verdict: null }])).toBe(wanted);
  });
});
