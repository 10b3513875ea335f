import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { planOf } from '../../../../src/model/account/plan.ts';
import { loadPlans } from '../../../../src/service/accounts/account-config.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';

function plansFile(text: string): string {
  const { path, remove } = makeTempFolder();
  onTestFinished(remove);
  const file = join(path, 'plans.yaml');
  writeFileSync(file, text);
  return file;
}

it('says which plan an account has', async () => {
  const file = plansFile(`
default: hobby
plans:
  hobby: { displayName: Hobby, limits: { checks: 5 } }
  team: { displayName: Team }
accounts: { a1: team }
`);
  const plans = await loadPlans(file);
  expect(planOf(plans, 'a1').displayName).toBe('Team');
  expect(planOf(plans, 'other').limits.checks).toBe(5);
});

it.each([
  ['plans: [', /^PLANS_FILE \S+ cannot be used: /],
  [
    'default: a\nplans: { a: { displayName: A, limits: { check: 1 } } }',
    /plans\.a\.limits: .*check/,
  ],
  ['', /^PLANS_FILE \S+ cannot be used: the file: Invalid input/],
  ['default: b\nplans: { a: { displayName: A } }', /default: must be one of the plans: a/],
])('that cannot be used stops the start with one line: %j', async (text, message) => {
  const loading = loadPlans(plansFile(text));
  await expect(loading).rejects.toThrow(message);
  await expect(loading).rejects.not.toThrow(/\n/);
});

it('that does not exist stops the start', async () => {
  await expect(loadPlans('/nowhere/plans.yaml')).rejects.toThrow(/ENOENT/);
});
