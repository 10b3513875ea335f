import type { ApiError } from '../../api/errors.ts';
import type { CheckType } from '../overview/check-filter.ts';

/** How a check did in the window. Null: no run had it. */
export interface Report {
  /** The percentage of passed runs, degraded ones included. */
  readonly availability: number | null;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** The window, as instants of ISO 8601; the end is exclusive. */
  readonly from: string;
  readonly to: string;
}

export interface ReportRow {
  readonly id: string;
  readonly name: string;
  readonly type: CheckType;
  /** Null: not read yet, or not possible. */
  readonly report: Report | null;
  /** Why there is no report. */
  readonly error: ApiError | null;
}

export const SORTS = ['availability', 'p50', 'p95'] as const;
export type Sort = (typeof SORTS)[number] | 'name';

const NAMES = new Intl.Collator('en', { numeric: true });

/** What is worst first, or by name. Checks without a value come last. */
export function sortedRows(rows: readonly ReportRow[], sort: Sort): readonly ReportRow[] {
  const badness = ({ report }: ReportRow): number => {
    const value = {
      name: 0,
      availability: report?.availability == null ? null : -report.availability,
      p50: report?.p50Ms ?? null,
      p95: report?.p95Ms ?? null,
    }[sort];
    return value ?? Number.NEGATIVE_INFINITY;
  };
  return [...rows].sort((one, next) => {
    const [first, second] = [badness(one), badness(next)];
    return first === second ? NAMES.compare(one.name, next.name) : second - first;
  });
}

const HEAD = 'id,name,type,from,to,availability_percent,response_time_p50_ms,response_time_p95_ms';

/** The rows that have a report, as CSV by RFC 4180. Numbers have all their digits, and no value is an empty field. */
export function csvOf(rows: readonly ReportRow[]): string {
  const lines = rows.flatMap(({ id, name, type, report }) => {
    if (report === null) return [];
    const { from, to, availability, p50Ms, p95Ms } = report;
    return [[id, name, type, from, to, availability, p50Ms, p95Ms].map(csvField).join(',')];
  });
  return `${[HEAD, ...lines].join('\r\n')}\r\n`;
}

function csvField(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  // Spreadsheets would run it as a formula.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
