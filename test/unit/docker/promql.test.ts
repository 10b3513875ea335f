import { describe, expect, it } from 'vitest';
import { exposedMetrics, misuseOf } from '../../support/compose/exposed-metrics.ts';
import { selectorsOf } from '../../support/compose/promql.ts';

const exposed = exposedMetrics();
const misuses = (expression: string): readonly string[] =>
  selectorsOf(expression).flatMap((selector) => misuseOf(selector, exposed));

describe('reading PromQL', () => {
  it('finds every selector with its labels and the functions around it', () => {
    const expression =
      'sum by (a) (rate(x_total{b=~"1|2", c!="}"}[5m])) / on (d) group_left sum without (e) (y) > 0.5';
    expect(selectorsOf(expression)).toEqual([
      {
        metric: 'x_total',
        labels: ['b', 'c'],
        hasRange: true,
        within: ['sum', 'rate'],
        grouping: ['a', 'd'],
      },
      { metric: 'y', labels: [], hasRange: false, within: ['sum'], grouping: ['d', 'e'] },
    ]);
  });

  it.each(['sum(', 'x{a=b}', 'x $y', 'x y', 'rate(x[5m]', 'x{a~"b"}'])('refuses %s', (text) => {
    expect(() => selectorsOf(text)).toThrow(/./);
  });

  it.each([
    ['vedette_run_total', 'vedette_run_total is exposed by nobody'],
    ['vedette_runs_total', 'the total of vedette_runs_total alone says nothing'],
    [
      'rate(vedette_runs_total{check_type="TCP"}[5m])',
      'vedette_runs_total has no label check_type',
    ],
    ['sum by (reason) (vedette_queued)', 'vedette_queued has no label reason'],
    ['increase(vedette_queued[5m])', 'vedette_queued is no counter for increase'],
    ['rate(vedette_attempts_total)', 'vedette_attempts_total in rate has no range'],
    [
      'histogram_quantile(0.5, sum by (le) (rate(vedette_start_lateness_seconds_sum[5m])))',
      'vedette_start_lateness_seconds_sum has no label le',
    ],
    ['histogram_quantile(0.5, vedette_queued)', "vedette_queued is no histogram's bucket"],
    [
      'rate(vedette_start_lateness_seconds_bucket[5m])',
      'vedette_start_lateness_seconds_bucket is used outside of histogram_quantile by le',
    ],
  ])('says what is wrong with %s', (expression, problem) => {
    expect(misuses(expression)).toContain(problem);
  });
});
