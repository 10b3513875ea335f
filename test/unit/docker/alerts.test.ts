import { describe, expect, it } from 'vitest';
import { ENVIRONMENT } from '../../../src/agent/config/agent-config.ts';
import { MISSED_REASONS } from '../../../src/model/result/missed-slots.ts';
import { SERVICE_ENVIRONMENT } from '../../../src/service/config.ts';
import { exposedMetrics, misuseOf } from '../../support/compose/exposed-metrics.ts';
import { alertRules, alertsTable, scrapeJobs } from '../../support/compose/prometheus-files.ts';
import { selectorsOf } from '../../support/compose/promql.ts';

const rules = alertRules();
const exposed = exposedMetrics();
const VARIABLES = new Set([...ENVIRONMENT, ...SERVICE_ENVIRONMENT].map(({ name }) => name));

describe('the alert rules', () => {
  it.each(rules)('$alert goes by what is exposed', ({ expr }) => {
    expect(selectorsOf(expr).flatMap((selector) => misuseOf(selector, exposed))).toEqual([]);
  });

  it.each(rules)('$alert says what it is, what it means, and what to do', (rule) => {
    expect(rule.alert).toMatch(/^Vedette[A-Z]\w+$/);
    expect(rule.labels.severity).toMatch(/^(?:warning|critical)$/);
    expect(Object.keys(rule.annotations)).toEqual(['summary', 'description', 'action']);
    for (const text of Object.values(rule.annotations)) expect(text).toMatch(/[.)]$/);
    // It stands in a cell of the README's table.
    expect(rule.annotations.description + (rule.annotations.action ?? '')).not.toMatch(/[|\n{]/);
  });

  it.each(rules)('$alert has the labels that its summary shows', ({ expr, annotations }) => {
    const shown = [...(annotations.summary ?? '').matchAll(/\$labels\.(\w+)/g)].map(
      ([, name]) => name ?? '',
    );
    const [first] = selectorsOf(expr);
    const isGrouped = first?.within.includes('sum') === true;
    const has = isGrouped ? first.grouping : (exposed.get(first?.metric ?? '')?.labels ?? []);
    expect(shown.filter((name) => !has.includes(name))).toEqual([]);
  });

  it('have unique names, and name only variables and reasons that exist', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    const texts = rules.map(({ annotations }) => Object.values(annotations).join(' ')).join(' ');
    const named = texts.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? [];
    expect(named.filter((name) => !VARIABLES.has(name))).toEqual([]);
    const alerts = new Set(rules.map(({ alert }) => alert));
    const others = texts.match(/\bVedette[A-Z]\w+/g) ?? [];
    expect(others.filter((name) => !alerts.has(name))).toEqual([]);
    const missed = rules.find(({ alert }) => alert === 'VedetteSlotsMissed');
    // Faults of the agent are in its log, and a long run is a matter of the target.
    const elsewhere = ['agent_fault', 'previous_run_active'];
    for (const reason of Object.keys(MISSED_REASONS)) {
      if (!elsewhere.includes(reason)) expect(missed?.annotations.action).toContain(reason);
    }
  });

  it('select by the jobs that are scraped', () => {
    const jobs = scrapeJobs().map(({ job_name: name }) => name);
    const asked = rules.flatMap(({ expr }) =>
      [...expr.matchAll(/job=(~?)"([^"]+)"/g)].map(([, sign, text]) =>
        sign === '~' ? new RegExp(`^(?:${text})$`) : new RegExp(`^${text}$`),
      ),
    );
    expect(asked.length).toBeGreaterThan(0);
    for (const pattern of asked) expect(jobs.some((job) => pattern.test(job))).toBe(true);
  });

  it('are listed in a table with a row for each', () => {
    const rows = alertsTable(rules).split('\n').slice(2);
    expect(rows).toHaveLength(rules.length);
    for (const row of rows) expect(row.split(' | ')).toHaveLength(4);
  });
});
