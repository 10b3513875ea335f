import { expect, it } from 'vitest';
import { createCheckGauges } from '../../../../src/agent/metrics/check-gauges.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { resultFor } from '../../../support/samples/results.ts';

it('a scrape of many checks lets runs go on, and shows all metrics of a check by the same run', async () => {
  const gauges = createCheckGauges([]);
  const checks = Array.from({ length: 1_000 }, (_, n) => checkOf('URL', { id: `check-${n}` }));
  const judgeAll = (hasFailures: boolean): void => {
    for (const { id } of checks) gauges.judged(resultFor({ checkId: id, hasFailures }));
  };
  gauges.setChecks(checks);
  judgeAll(false);
  let yields = 0;
  const pieces = await gauges.render(async () => {
    yields += 1;
    if (yields === 1) judgeAll(true);
  });
  const lines = Buffer.concat(pieces).toString().split('\n');
  const checksWith = (metric: string, value: number): readonly string[] =>
    lines
      .filter((line) => line.startsWith(`${metric}{`) && line.endsWith(` ${value}`))
      .map((line) => /check_id="([^"]*)"/.exec(line)?.[1] ?? '');
  const up = checksWith('vedette_check_up', 1);
  const down = checksWith('vedette_check_up', 0);
  expect(up.length).toBeGreaterThan(0);
  expect(up.length).toBeLessThan(down.length);
  expect(up.length + down.length).toBe(checks.length);
  expect(checksWith('vedette_check_state', 0)).toEqual(up);
  expect(checksWith('vedette_check_state', 2)).toEqual(down);
});
