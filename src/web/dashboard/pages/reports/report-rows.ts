import type { CheckType } from '../overview/check-filter.ts';

/** The phases in the order of a run. Each type of check has some of them. */
export const PHASES = [
  'wait',
  'dns',
  'tcp',
  'connection',
  'firstByte',
  'download',
  'data',
] as const;
type PhaseName = (typeof PHASES)[number];

/** The report on a check for the window. Times are in milliseconds, null if no run had them. */
export interface ReportRow {
  readonly id: string;
  readonly name: string;
  readonly type: CheckType;
  readonly runs: number;
  readonly failures: number;
  /** The percentage of passed runs, degraded ones included. */
  readonly availability: number | null;
  readonly avgMs: number | null;
  readonly maxMs: number | null;
  /** The averages of those phases that the type has. */
  readonly phases: Readonly<Partial<Record<PhaseName, number | null>>>;
  /** The window, as instants of ISO 8601; the end is exclusive. */
  readonly from: string;
  readonly to: string;
}

export const SORTS = ['availability', 'avg', 'max'] as const;
export type Sort = (typeof SORTS)[number] | 'name';

const NAMES = new Intl.Collator('en', { numeric: true });

/** Sorts the rows, worst first or by name. Checks without a value come last. */
export function sortedRows(rows: readonly ReportRow[], sort: Sort): readonly ReportRow[] {
  const badness = ({ availability, avgMs, maxMs }: ReportRow): number => {
    const value = {
      name: 0,
      availability: availability === null ? null : -availability,
      avg: avgMs,
      max: maxMs,
    }[sort];
    return value ?? Number.NEGATIVE_INFINITY;
  };
  return [...rows].sort((one, next) => {
    const [first, second] = [badness(one), badness(next)];
    return first === second ? NAMES.compare(one.name, next.name) : second - first;
  });
}

const HEAD = [
  ...['id', 'name', 'type', 'from', 'to', 'runs', 'failures', 'availability_percent'],
  ...['response_time_avg_ms', 'response_time_max_ms'],
  ...PHASES.map((name) => `${name.replaceAll(/([A-Z])/g, '_$1').toLowerCase()}_avg_ms`),
];

/** The rows as CSV by RFC 4180. Numbers have all their digits, and no value is an empty field. */
export function csvOf(rows: readonly ReportRow[]): string {
  const lines = rows.map((row) => {
    const { id, name, type, from, to, runs, failures, availability, avgMs, maxMs } = row;
    const phases = PHASES.map((phase) => row.phases[phase] ?? null);
    return [id, name, type, from, to, runs, failures, availability, avgMs, maxMs, ...phases];
  });
  return [HEAD, ...lines].map((line) => `${line.map(csvField).join(',')}\r\n`).join('');
}

function csvField(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  // Otherwise spreadsheets would run the text as a formula.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
