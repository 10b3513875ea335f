import { describe, expect, it } from 'vitest';
import type { AlertSettings } from '../../../../src/model/alerting/alert-settings.ts';
import { settingsInForce } from '../../../../src/model/alerting/alert-settings-in-force.ts';

function failedRuns(failedRunThreshold: number): AlertSettings {
  return { escalationType: 'RUN_BASED', runBasedEscalation: { failedRunThreshold } };
}

describe('the alert settings that apply to a check', () => {
  const own = failedRuns(2);
  const group = failedRuns(3);
  const account = failedRuns(4);
  it.each([
    ["the account's for a check that uses them", {}, account],
    ["the check's own", { ownUsesGlobal: false }, own],
    ['none if the check has none', { ownUsesGlobal: false, own: null }, null],
    [
      "the group's over the check's own",
      { ownUsesGlobal: false, group, groupUsesGlobal: false },
      group,
    ],
    ["the group's over the account's", { group, groupUsesGlobal: false }, group],
    ["the account's over the group's that uses them", { ownUsesGlobal: false, group }, account],
    [
      "the check's own if the group has no settings",
      { ownUsesGlobal: false, groupUsesGlobal: false },
      own,
    ],
  ])('are %s', (_name, said, wanted) => {
    const all = { own, ownUsesGlobal: true, group: null, groupUsesGlobal: true, account, ...said };
    expect(settingsInForce(all)).toBe(wanted);
  });
});
