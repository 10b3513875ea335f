import { expect, it } from 'vitest';
import type { CheckSet } from '../../../src/agent/source/check-source.ts';
import type { Pause } from '../../../src/model/schedule/pause.ts';
import { checkSetOf, startDaemon } from '../../support/agent/daemon-fixture.ts';
import { metricsText } from '../../support/agent/metrics-text.ts';
import { eventually } from '../../support/eventually.ts';
import { checkOf } from '../../support/samples/checks.ts';

const MINUTE = 60_000;

it('an agent skips the slots of checks that pause, by the tags of their group too', async () => {
  const { clock, daemon, listener, metrics, missed, results, request } = await startDaemon();
  const everyMinute = { frequency: 1, frequencyOffset: 10, request } as const;
  const checks = [
    checkOf('TCP', { id: 'own', tags: ['db'], ...everyMinute }),
    checkOf('TCP', { id: 'group', ...everyMinute }),
    checkOf('TCP', { id: 'other', ...everyMinute }),
  ];
  const t0 = clock.wallMs();
  const pause: Pause = {
    startsAtMs: t0,
    endsAtMs: t0 + 3 * MINUTE,
    repeatUnit: 'DAY',
    repeatInterval: null,
    repeatEndsAtMs: null,
    tags: ['db'],
  };
  const set: CheckSet = {
    ...checkSetOf(checks),
    // No agent had the checks for two slots. In the first all were paused, in the second two.
    unanswered: new Map(checks.map(({ id }) => [id, t0 - MINUTE - 1])),
    pauses: [pause, { ...pause, startsAtMs: t0 - MINUTE, endsAtMs: t0 - MINUTE + 1, tags: null }],
    groupTags: new Map([['group', ['db']]]),
  };
  const ranAMinute = async (ids: readonly string[]): Promise<void> => {
    await clock.advance(MINUTE);
    await eventually(() => results.length >= ids.length && daemon.running === 0);
    expect(results).toHaveLength(ids.length);
    expect(new Set(results.map(({ name }) => name))).toEqual(new Set(ids));
    results.length = 0;
  };
  listener.onChecks(set);
  await ranAMinute(['other']);
  expect(missed.map(({ checkId, slot, count }) => [checkId, slot, count])).toEqual([
    ['other', t0, 1],
  ]);
  expect(await metricsText(metrics)).toContain('\nvedette_paused_slots_total 2\n');
  listener.onChecks({ ...set, unanswered: new Map(), pauses: [] });
  await ranAMinute(['group', 'other', 'own']);
  expect(missed).toHaveLength(1);
});
