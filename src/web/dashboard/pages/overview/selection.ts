import { useEffect, useRef, useState } from 'preact/hooks';
import type { CheckRows } from './check-rows.ts';
import type { OverviewData } from './overview-data.ts';

/** The most checks of a bulk request. */
export const MAX_SELECTED = 1_000;

export interface Selection {
  /** The checks that were selected one by one. */
  readonly ids: readonly string[];
  /** Whether all checks that match the filters are selected, also those that are not shown. */
  readonly isAll: boolean;
  selectAll(): void;
  has(id: string): boolean;
  nameOf(id: string): string;
  clear(): void;
  toggle(
    id: string,
    at: { readonly rows: CheckRows; readonly index: number },
    isRange: boolean,
  ): void;
}

/** The selected checks. Shift selects a range from the last selected check, in the same list. */
export function useSelection(data: OverviewData): Selection {
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const last = useRef<{ readonly rows: CheckRows; readonly index: number } | null>(null);
  const [isAll, setAll] = useState(false);
  const clear = (): void => {
    setNames(new Map());
    setAll(false);
  };
  useEffect(clear, [data]);
  return {
    ids: [...names.keys()],
    isAll,
    selectAll() {
      clear();
      setAll(true);
    },
    has: (id) => isAll || names.has(id),
    nameOf: (id) => names.get(id) ?? id,
    clear,
    toggle(id, { rows, index }, isRange) {
      // All checks are selected, so it is not clear which of them should stay selected.
      if (isAll) return clear();
      const next = new Map(names);
      const since = last.current?.rows === rows ? last.current.index : index;
      if (isRange && since !== index) {
        const [from, to] = [Math.min(since, index), Math.max(since, index)];
        for (let at = from; at <= to && next.size < MAX_SELECTED; at += 1) {
          const row = rows.row(at);
          if (row !== null) next.set(row.checkId, row.name);
        }
      } else if (!next.delete(id) && next.size < MAX_SELECTED) {
        next.set(id, rows.row(index)?.name ?? id);
      }
      last.current = { rows, index };
      setNames(next);
    },
  };
}
