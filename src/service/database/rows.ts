import type { Row } from './store.ts';

/** Converts rows of the drivers' array mode to objects with camelCase keys. */
export function namedRows<R extends Row>(
  fields: readonly { readonly name: string }[],
  rows: readonly (readonly unknown[])[],
): readonly R[] {
  const keys = fields.map(({ name }) => camelCase(name));
  return rows.map((values) => {
    const row: Record<string, unknown> = {};
    for (let i = 0; i < keys.length; i += 1) row[keys[i] as string] = values[i];
    return row as R;
  });
}

function camelCase(column: string): string {
  return column.replace(/_([a-z0-9])/g, (_, next: string) => next.toUpperCase());
}
