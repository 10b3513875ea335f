import { describe, expect, it } from 'vitest';
import { AGENT_METRICS } from '../../../src/agent/metrics/metrics-table.ts';
import { exposedMetrics, misuseOf } from '../../support/compose/exposed-metrics.ts';
import {
  DASHBOARDS,
  dashboardExpressions,
  type GridPosition,
  readDashboard,
} from '../../support/compose/grafana-dashboards.ts';
import { selectorsOf } from '../../support/compose/promql.ts';

const exposed = exposedMetrics();

/** The differences between the dashboards. */
const OWN = {
  vedette: { uid: 'vedette', title: 'Vedette', variables: ['agent', 'service'] },
  checks: {
    uid: 'vedette-checks',
    title: 'Vedette: checks',
    variables: ['location', 'tag', 'check'],
  },
} as const;

it('the Grafana dashboards show every metric of the agent that is not deprecated', () => {
  const shown = DASHBOARDS.flatMap((name) => dashboardExpressions(name)).flatMap(({ expr }) =>
    selectorsOf(expr).map(({ metric }) => metric),
  );
  const bare = new Set(shown.map((metric) => metric.replace(/_(?:bucket|sum|count)$/, '')));
  const current = AGENT_METRICS.filter(({ meaning }) => !meaning.startsWith('Deprecated'));
  expect(current.map(({ name }) => name).filter((name) => !bare.has(name))).toEqual([]);
});

describe.each(DASHBOARDS)('the Grafana dashboard %s', (name) => {
  const dashboard = readDashboard(name);
  const expressions = dashboardExpressions(name);
  const charts = dashboard.panels.filter(({ type }) => type !== 'row');
  const { uid, title: ownTitle, variables } = OWN[name];

  it.each(expressions)('asks in «$title» for what is exposed: $expr', ({ expr }) => {
    expect(selectorsOf(expr).flatMap((selector) => misuseOf(selector, exposed))).toEqual([]);
  });

  it.each(expressions.filter(({ legend }) => legend.includes('{{')))(
    'names the lines of «$title» by labels that they have: $legend',
    ({ expr, legend }) => {
      const labels = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label ?? '');
      // A series has the labels of one side of a division at least.
      const known = selectorsOf(expr).flatMap(({ metric, within, grouping }) => {
        const isSummed = within.some((one) => ['sum', 'count', 'min', 'max'].includes(one));
        return isSummed ? grouping : (exposed.get(metric)?.labels ?? []);
      });
      const missing = labels.filter((label) => !known.includes(label));
      expect(missing).toEqual([]);
    },
  );

  it('shows 0, not a gap, for each count without a series', () => {
    const counted = charts
      .filter(({ type }) => type === 'stat')
      .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
      .filter((expr) => expr.startsWith('count('));
    expect(counted).toHaveLength(3);
    expect(counted.filter((expr) => !expr.endsWith(') or vector(0)'))).toEqual([]);
  });

  it('can be imported: it has a uid, a title, a version of the schema and a time', () => {
    expect(dashboard).toMatchObject({ uid, title: ownTitle, time: { to: 'now' } });
    expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(36);
    expect(dashboard).not.toHaveProperty('id');
    expect(dashboard).not.toHaveProperty('__inputs');
  });

  it('asks the chosen data source in every query', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as Grafana writes a variable
    const chosen = { type: 'prometheus', uid: '${datasource}' };
    const asked = charts.flatMap(({ datasource, targets = [] }) => [
      datasource,
      ...targets.map((target) => target.datasource),
    ]);
    expect(asked.filter((source) => JSON.stringify(source) !== JSON.stringify(chosen))).toEqual([]);
    expect(dashboard.templating.list.map((one) => [one.name, one.type])).toEqual([
      ['datasource', 'datasource'],
      ...variables.map((variable) => [variable, 'query']),
    ]);
    for (const { definition } of dashboard.templating.list.slice(1)) {
      const [, metric = '', label] = /^label_values\((\w+), (\w+)\)$/.exec(definition ?? '') ?? [];
      expect(exposed.get(metric)?.labels).toContain(label);
    }
  });

  it('uses only these variables and Grafana’s own', () => {
    const texts = JSON.stringify(dashboard.panels);
    const used = [...texts.matchAll(/\$\{?(\w+)\}?/g)].map(([, variable]) => variable);
    expect(new Set(used)).toEqual(new Set(['datasource', '__rate_interval', ...variables]));
  });

  it('explains every panel, each with queries of its own', () => {
    for (const { title, description, targets = [] } of charts) {
      expect(title).not.toBe('');
      expect(description, title).toMatch(/\.$/);
      const ids = targets.map(({ refId }) => refId);
      expect(ids.length, title).toBeGreaterThan(0);
      expect(new Set(ids).size, title).toBe(ids.length);
    }
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has each panel at a position of its own, inside of the 24 columns', () => {
    const places = dashboard.panels.map(({ gridPos }) => gridPos);
    const outside = places.filter(({ x, y, w, h }) => x < 0 || y < 0 || x + w > 24 || w * h === 0);
    expect(outside).toEqual([]);
    const pairs = places.flatMap((one, index) =>
      places.slice(index + 1).map((other) => [one, other] as const),
    );
    expect(pairs.filter(([one, other]) => overlap(one, other))).toEqual([]);
  });
});

function overlap(one: GridPosition, other: GridPosition): boolean {
  return (
    one.x < other.x + other.w &&
    other.x < one.x + one.w &&
    one.y < other.y + other.h &&
    other.y < one.y + one.h
  );
}
