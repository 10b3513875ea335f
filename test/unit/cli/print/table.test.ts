import { describe, expect, it } from 'vitest';
import { columnsOf } from '../../../../src/cli/print/columns.ts';
import { type Cell, tableLines } from '../../../../src/cli/print/table.ts';

const row = (...texts: readonly string[]): readonly Cell[] => texts.map((text) => ({ text }));
const ROWS = [
  row('FAIL', 'The shop', 'office', 'CONNECT_REFUSED: the target refused the connection'),
  row('SLOW', 'Mail', 'cellar and attic', 'took 4000 ms'),
];
const table = (width: number, rows: readonly (readonly Cell[])[] = ROWS) =>
  tableLines(rows, { width, maxColumns: [8, 20, 20] });

describe('a table', () => {
  it('has columns as wide as their widest cell', () => {
    expect(table(120)).toEqual([
      'FAIL  The shop  office            CONNECT_REFUSED: the target refused the connection',
      'SLOW  Mail      cellar and attic  took 4000 ms',
    ]);
  });

  it('has a cell of the last column that does not fit below, and only that', () => {
    expect(table(60)).toEqual([
      'FAIL  The shop  office',
      '    CONNECT_REFUSED: the target refused the connection',
      'SLOW  Mail      cellar and attic  took 4000 ms',
    ]);
  });

  it('cuts what does not fit, with an ellipsis', () => {
    const narrow = tableLines(ROWS, { width: 60, maxColumns: [8, 6, 20] });
    expect(narrow[0]).toMatch(/^FAIL {2}The … {2}office/);
  });

  it('has the last column below where there is little room for it', () => {
    expect(table(44)).toEqual([
      'FAIL  The shop  office',
      '    CONNECT_REFUSED: the target refused the',
      '    connection',
      'SLOW  Mail      cellar and attic',
      '    took 4000 ms',
    ]);
  });

  it('cuts what stands below after four lines', () => {
    const long = row('FAIL', 'The shop', 'office', 'reason '.repeat(40).trim());
    const lines = table(44, [long]);
    expect(lines).toHaveLength(5);
    expect(lines.at(-1)).toMatch(/^ {4}reason .*…$/);
  });

  it('gives the room of a last column below to the growing one', () => {
    const layout = { width: 40, maxColumns: [8, 5, 20], growing: 1 };
    expect(tableLines(ROWS, layout)[0]).toBe('FAIL  The shop  office');
    expect(tableLines(ROWS, { ...layout, width: 29 })[0]).toBe('FAIL  The…  office');
  });

  it.each([1, 3, 9, 20, 37, 44, 60, 79])('has no line longer than %i columns', (width) => {
    const wide = row('FAIL', '東京'.repeat(9), 'office', '東京'.repeat(40));
    const rows = [...ROWS, wide];
    const growing = tableLines(rows, { width, maxColumns: [8, 5, 20], growing: 1 });
    const columns = [...table(width, rows), ...growing].map(columnsOf);
    expect(Math.max(...columns)).toBeLessThanOrEqual(width);
  });

  it('colours the text without its padding, and after it was cut', () => {
    const paint = (text: string): string => `<${text}>`;
    const cells = [{ text: 'FAIL', paint }, { text: 'a long name', paint }, { text: 'x' }];
    expect(tableLines([cells], { width: 80, maxColumns: [8, 6, 20] })).toEqual([
      '<FAIL>  <a lo…>  x',
    ]);
  });

  it('leaves out columns without any text, and takes no rows', () => {
    expect(table(80, [row('FAIL', '', 'office', ''), row('SLOW', '', 'attic', '')])).toEqual([
      'FAIL  office',
      'SLOW  attic',
    ]);
    expect(table(80, [])).toEqual([]);
  });
});
