import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly name: string;
  readonly head: ComponentChildren;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers are aligned at the end of the column. */
  readonly isNumber?: boolean;
  /** The rows are in the order of this column. */
  readonly sort?: 'ascending' | 'descending';
  /** Hidden on narrow screens. */
  readonly isOptional?: boolean;
}

/**
 * A table whose rows can be walked through with the arrow keys. On narrow screens each row is a block, with the
 * head of each cell before it.
 */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
  onOpen,
}: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Enter opens a row: by keyboard, beside the link in it. */
  readonly onOpen?: (row: Row) => void;
}) {
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    if (!(event.target instanceof HTMLTableRowElement)) return;
    const { target } = event;
    const to =
      event.key === 'ArrowDown' ? target.nextElementSibling : target.previousElementSibling;
    if (!(to instanceof HTMLElement)) return;
    event.preventDefault();
    to.focus();
  };
  const classOf = ({ isNumber, isOptional }: Column<Row>): string | undefined =>
    [isNumber === true && 'num', isOptional === true && 'optional'].filter(Boolean).join(' ') ||
    undefined;
  return (
    <table class="table" aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th scope="col" key={column.name} class={classOf(column)} aria-sort={column.sort}>
              {column.head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody onKeyDown={onKeyDown}>
        {rows.map((row) => (
          <tr
            key={keyOf(row)}
            tabIndex={onOpen === undefined ? undefined : 0}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.target !== event.currentTarget) return;
              onOpen?.(row);
            }}
          >
            {columns.map((column) => (
              <td
                key={column.name}
                class={classOf(column)}
                data-head={typeof column.head === 'string' ? column.head : undefined}
              >
                <div class="table-cell">{column.cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
