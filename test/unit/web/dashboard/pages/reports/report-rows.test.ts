import { describe, expect, it } from 'vitest';
import {
  csvOf,
  type ReportRow,
  sortedRows,
} from '../../../../../../src/web/dashboard/pages/reports/report-rows.ts';
import { windowIn } from '../../../../../../src/web/dashboard/pages/reports/report-window.ts';

const WINDOW = { from: '2026-11-01T00:00:00.000Z', to: '2026-11-08T00:00:00.000Z' };

function row(name: string, values: readonly (number | null)[] = []): ReportRow {
  const [availability = null, avgMs = null, maxMs = null] = values;
  const runs = availability === null ? { runs: 0, failures: 0 } : { runs: 200, failures: 5 };
  const phases = avgMs === null ? { dns: null } : { dns: 1.25, firstByte: 0.5 };
  const id = name.toLowerCase();
  return { id, name, type: 'API', ...WINDOW, ...runs, availability, avgMs, maxMs, phases };
}

describe('the rows of the report page', () => {
  const rows = [
    row('Shop 10', [100, 20, 900]),
    row('Idle'),
    row('Shop 2', [97.5, 80, 120]),
    row('Basket', [97.5, 30, 40]),
  ];
  const names = (sort: Parameters<typeof sortedRows>[1]) =>
    sortedRows(rows, sort).map(({ name }) => name);

  it('stand by name, with numbers in names as numbers', () => {
    expect(names('name')).toEqual(['Basket', 'Idle', 'Shop 2', 'Shop 10']);
  });

  it('stand with the worst first, and those without a value last', () => {
    expect(names('availability')).toEqual(['Basket', 'Shop 2', 'Shop 10', 'Idle']);
    expect(names('avg')).toEqual(['Shop 2', 'Basket', 'Shop 10', 'Idle']);
    expect(names('max')).toEqual(['Shop 10', 'Shop 2', 'Basket', 'Idle']);
  });

  it('become CSV with all digits, quoted texts and no formulas', () => {
    const csv = csvOf([
      row('=HYPERLINK("http://a.example")', [99.123456, 0.5, null]),
      row('Shop, "old"'),
    ]);
    const { from, to } = WINDOW;
    expect(csv.split('\r\n')).toEqual([
      'id,name,type,from,to,runs,failures,availability_percent,response_time_avg_ms,response_time_max_ms,wait_avg_ms,dns_avg_ms,tcp_avg_ms,connection_avg_ms,first_byte_avg_ms,download_avg_ms,data_avg_ms',
      `"'=hyperlink(""http://a.example"")","'=HYPERLINK(""http://a.example"")",API,${from},${to},200,5,99.123456,0.5,,,1.25,,,0.5,,`,
      `"shop, ""old""","Shop, ""old""",API,${from},${to},0,0,,,,,,,,,,`,
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
