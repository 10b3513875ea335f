import type { Row } from './row.ts';

const HEADINGS = ['Measure', 'Value', 'Beside', 'Ratio', 'Spread', 'Target', 'Met'] as const;

/** The rows for a terminal, in aligned columns. */
export function tableOf(rows: readonly Row[]): string {
  const lines = [HEADINGS, ...rows.map(cellsOf)];
  const widths = HEADINGS.map((_, column) =>
    Math.max(...lines.map((cells) => (cells[column] ?? '').length)),
  );
  return lines
    .map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

/** The rows as Markdown, without alignment: one changed figure must not change every line. */
export function markdownOf(rows: readonly Row[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(HEADINGS), line(HEADINGS.map(() => '---')), ...rows.map(cellsOf).map(line)].join(
    '\n',
  );
}

function cellsOf(row: Row): readonly string[] {
  const { measure, value, unit, beside, besideValue, ratio, spread, target, met } = row;
  return [
    measure,
    `${figure(value)} ${unit}`,
    beside === null ? '–' : `${beside}: ${figure(besideValue ?? Number.NaN)}`,
    ratio === null ? '–' : `${figure(ratio)}×`,
    `${(spread * 100).toFixed(0)} %`,
    target ?? '–',
    met === null ? '–' : met ? 'yes' : 'no',
  ];
}

/** Three significant digits. */
function figure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}
