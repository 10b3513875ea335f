import { describe, expect, it } from 'vitest';
import {
  heartbeatCheckSchema,
  periodText,
  rhythmOf,
} from '../../../../src/model/check/heartbeat.ts';

const RHYTHM = { period: 1, periodUnit: 'HOURS', grace: 5, graceUnit: 'MINUTES' };

function pathsOf(heartbeat: object): readonly string[] {
  const parsed = heartbeatCheckSchema.safeParse({
    checkType: 'HEARTBEAT',
    name: 'Backup',
    heartbeat: { ...RHYTHM, ...heartbeat },
  });
  return parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join('.'));
}

describe('a heartbeat check', () => {
  it('has every default that a check has', () => {
    const given = { checkType: 'HEARTBEAT', name: 'Backup', heartbeat: RHYTHM };
    expect(heartbeatCheckSchema.parse(given)).toEqual({
      ...given,
      activated: true,
      muted: false,
      tags: [],
      useGlobalAlertSettings: true,
      groupId: null,
      alertChannelSubscriptions: [],
      description: null,
      logicalId: null,
    });
  });

  it.each([
    [{ period: 30, periodUnit: 'SECONDS' }, []],
    [{ period: 29, periodUnit: 'SECONDS' }, ['heartbeat.period']],
    [{ period: 0 }, ['heartbeat.period']],
    [{ period: 1.5 }, ['heartbeat.period']],
    [{ period: 365, periodUnit: 'DAYS' }, []],
    [{ period: 366, periodUnit: 'DAYS' }, ['heartbeat.period']],
    [{ period: 31_536_000, periodUnit: 'SECONDS' }, []],
    [{ period: 31_536_001, periodUnit: 'SECONDS' }, ['heartbeat.period']],
    [{ period: 31_536_000, periodUnit: 'DAYS' }, ['heartbeat.period']],
    [{ period: undefined }, ['heartbeat.period']],
    [{ periodUnit: 'WEEKS' }, ['heartbeat.periodUnit']],
    [{ grace: 0, graceUnit: 'DAYS' }, []],
    [{ grace: -1 }, ['heartbeat.grace']],
    [{ grace: 365, graceUnit: 'DAYS' }, []],
    [{ grace: 8_761, graceUnit: 'HOURS' }, ['heartbeat.grace']],
    [{ graceUnit: undefined }, ['heartbeat.graceUnit']],
    [{ pingToken: 'mine' }, ['heartbeat']],
  ])('with %j is refused for %j', (heartbeat, paths) => {
    expect(pathsOf(heartbeat)).toEqual(paths);
  });

  it('has its period and grace in milliseconds', () => {
    expect(rhythmOf({ period: 2, periodUnit: 'DAYS', grace: 90, graceUnit: 'SECONDS' })).toEqual({
      periodMs: 172_800_000,
      graceMs: 90_000,
    });
  });

  it.each([
    [0, '0 seconds'],
    [1_000, '1 second'],
    [90_000, '1 minute 30 seconds'],
    [90_061_000, '1 day 1 hour 1 minute 1 second'],
    [31_536_000_000, '365 days'],
  ])('writes %d ms as %s', (durationMs, text) => {
    expect(periodText(durationMs)).toBe(text);
  });
});
