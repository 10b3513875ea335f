import { describe, expect, it } from 'vitest';
import { selectChecks } from '../../../../src/cli/run/select-checks.ts';
import { checkOf } from '../../../support/samples/checks.ts';

const CHECKS = [
  checkOf('URL', { id: 'shop' }),
  checkOf('TCP', { id: 'door', activated: false }),
  checkOf('DNS', { id: 'name' }),
];
const ids = (checks: readonly { readonly id: string }[]) => checks.map(({ id }) => id);

describe('selectChecks', () => {
  it('selects activated checks, and names the others', () => {
    const { selected, skipped } = selectChecks(CHECKS, []);
    expect(ids(selected)).toEqual(['shop', 'name']);
    expect(ids(skipped)).toEqual(['door']);
  });

  it('selects the named checks, activated or not, once and in the order of the file', () => {
    const { selected, skipped } = selectChecks(CHECKS, ['name', 'door', 'name']);
    expect(ids(selected)).toEqual(['door', 'name']);
    expect(skipped).toEqual([]);
  });

  it('refuses an unknown id with the nearest one', () => {
    expect(() => selectChecks(CHECKS, ['shpo'])).toThrow(
      'no check has the id "shpo"; did you mean shop?',
    );
  });
});
