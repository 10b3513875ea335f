import { expect, it } from 'vitest';
import { planOf } from '../../../../src/cli/apply/plan.ts';
import { checkOf } from '../../../support/checks.ts';

it('leaves heartbeats alone, which no file can have', () => {
  const tcp = checkOf('TCP', { id: 'tcp' });
  const known = [
    { id: 'tcp', checkType: 'TCP', check: tcp },
    { id: 'backup', checkType: 'HEARTBEAT', check: null },
  ];
  const { steps, others } = planOf([], known, () => 'delete');
  expect(steps).toEqual([{ kind: 'delete', id: 'tcp', checkType: 'TCP' }]);
  expect(others).toBe(1);
});
