import { expect, it } from 'vitest';
import { planChanges } from '../../../../src/cli/apply/check-plan.ts';
import { knownCheckOf } from '../../../../src/cli/apply/normal-form.ts';
import { checkOf } from '../../../support/samples/checks.ts';

it('leaves heartbeats to the plan of the other resources', () => {
  const tcp = checkOf('TCP', { id: 'tcp' });
  const known = [
    { id: 'tcp', checkType: 'TCP', check: tcp },
    { id: 'backup', checkType: 'HEARTBEAT', check: null },
  ];
  const { steps, others } = planChanges([], known, {
    fileName: null,
    unlistedActionOf: () => 'delete',
  });
  expect(steps).toEqual([{ kind: 'delete', id: 'tcp', checkType: 'TCP' }]);
  expect(others).toBe(0);
});

/** A check as the API returns it, with a hidden secret variable. */
const knownWithSecret = (variable: object) => {
  const { id, ...body } = checkOf('TCP', { id: 'tcp' });
  return knownCheckOf({ ...body, id, variables: [{ key: 'A', secret: true, ...variable }] });
};

it.each([{}, { value: null }])('keeps the secrets of a check that is switched off: %j', (value) => {
  const { steps } = planChanges([], [knownWithSecret(value)], {
    fileName: null,
    unlistedActionOf: () => 'deactivate',
  });
  expect(steps).toMatchObject([{ kind: 'update', body: { activated: false } }]);
  expect(steps[0]?.kind === 'update' && Object.keys(steps[0].body)).toEqual(['activated']);
});

it('treats no value of a file as equal to a hidden one', () => {
  const known = knownWithSecret({ value: null });
  for (const value of ['', 'null', '********', 'x']) {
    const check = checkOf('TCP', { id: 'tcp', variables: [{ key: 'A', value, secret: true }] });
    const { steps } = planChanges([check], [known], {
      fileName: null,
      unlistedActionOf: () => 'keep',
    });
    expect(steps).toMatchObject([
      { kind: 'update', body: { variables: [{ key: 'A', value, secret: true }] } },
    ]);
    expect(steps[0]?.kind === 'update' && steps[0].changes).toMatchObject([
      { path: 'variables[0]', isWrittenAgain: true },
    ]);
  }
});
