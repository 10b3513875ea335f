import { describe, expect, it } from 'vitest';
import { dependencyLevels } from '../../../../src/model/check/dependencies.ts';

const check = (id: string, ...dependsOn: readonly string[]) => ({ id, dependsOn });
const idsOf = (checks: readonly { readonly id: string }[]) => checks.map(({ id }) => id);

describe('dependencyLevels', () => {
  it('puts each check after those that it depends on, and ignores those that are not there', () => {
    const { levels, inCycles } = dependencyLevels([
      check('shop', 'switch', 'proxy'),
      check('proxy', 'switch', 'elsewhere'),
      check('switch'),
      check('other'),
    ]);
    expect(levels.map(idsOf)).toEqual([['switch', 'other'], ['proxy'], ['shop']]);
    expect(inCycles).toEqual([]);
  });

  it('names the checks of a cycle and those behind it', () => {
    const given = [check('a', 'b'), check('b', 'a'), check('behind', 'a'), check('self', 'self')];
    const { levels, inCycles } = dependencyLevels([...given, check('free')]);
    expect(levels.map(idsOf)).toEqual([['free']]);
    expect(idsOf(inCycles)).toEqual(['a', 'b', 'behind', 'self']);
  });
});
