import { describe, expect, it } from 'vitest';
import {
  csvOf,
  type ReportRow,
  sortedRows,
} from '../../../../../../src/web/dashboard/pages/reports/report-rows.ts';
import { windowIn } from '../../../../../../src/web/dashboard/pages/reports/report-window.ts';

const WINDOW = { from: '2026-11-01T00:00:00.000Z', to: '2026-11-08T00:00:00.000Z' };

function row(name: string, values: readonly (number | null)[] | null): ReportRow {
  const [availability = null, p50Ms = null, p95Ms = null] = values ?? [];
  const report = values === null ? null : { ...WINDOW, availability, p50Ms, p95Ms };
  return { id: name.toLowerCase(), name, type: 'API', report, error: null };
}

describe('the rows of the report page', () => {
  const rows = [
    row('Shop 10', [100, 20, 900]),
    row('Unread', null),
    row('Idle', [null, null, null]),
    row('Shop 2', [97.5, 80, 120]),
    row('Basket', [97.5, 30, 40]),
  ];
  const names = (sort: Parameters<typeof sortedRows>[1]) =>
    sortedRows(rows, sort).map(({ name }) => name);

  it('stand by name, with numbers in names as numbers', () => {
    expect(names('name')).toEqual(['Basket', 'Idle', 'Shop 2', 'Shop 10', 'Unread']);
  });

  it('stand with the worst first, and those without a value last', () => {
    expect(names('availability')).toEqual(['Basket', 'Shop 2', 'Shop 10', 'Idle', 'Unread']);
    expect(names('p50')).toEqual(['Shop 2', 'Basket', 'Shop 10', 'Idle', 'Unread']);
    expect(names('p95')).toEqual(['Shop 10', 'Shop 2', 'Basket', 'Idle', 'Unread']);
  });

  it('become CSV with all digits, quoted texts, no formulas and without rows that are not read', () => {
    const csv = csvOf([
      row('=HYPERLINK("http://a.example")', [99.123456, 0.5, null]),
      row('Unread', null),
      row('Shop, "old"', [null, null, null]),
    ]);
    const { from, to } = WINDOW;
    expect(csv.split('\r\n').slice(1)).toEqual([
      `"'=hyperlink(""http://a.example"")","'=HYPERLINK(""http://a.example"")",API,${from},${to},99.123456,0.5,`,
      `"shop, ""old""","Shop, ""old""",API,${from},${to},,,`,
      '',
    ]);
  });
});

describe('the window of the report page', () => {
  const windowOf = (query: string) => windowIn(new URLSearchParams(query));

  it('is the last 7 days, or what the address names', () => {
    expect(windowOf('')).toEqual({ quickRange: 'last7Days' });
    expect(windowOf('range=lastMonth')).toEqual({ quickRange: 'lastMonth' });
    expect(windowOf('range=toString')).toEqual({ quickRange: 'last7Days' });
  });

  it('covers whole days in UTC with the last one, or ends now', () => {
    const from = Date.parse('2026-11-01T00:00:00Z');
    expect(windowOf('from=2026-11-01&to=2026-11-01')).toMatchObject({
      from,
      to: Date.parse('2026-11-02T00:00:00Z'),
    });
    expect(windowOf('from=2026-11-01')).toEqual({ quickRange: 'last7Days', from });
    expect(windowOf('from=2026-11-02&to=2026-11-01')).toBeNull();
    expect(windowOf('from=2026-13-01&to=2026-11-01')).toEqual({ quickRange: 'last7Days' });
  });
});
