import type { ComponentChildren } from 'preact';
import type { Query } from '../../api/query.ts';
import { ErrorState } from '../error-state.tsx';
import { Pager } from '../pager.tsx';
import { Skeleton } from '../skeleton.tsx';
import { type Column, Table } from '../table.tsx';
import type { Part } from './use-list.ts';

/** A list in a panel: loading, failed, empty or with entries. */
export function ListPanel<Entry>({
  title,
  list: { query, more },
  columns,
  keyOf,
  empty,
  actions,
  rows,
}: {
  readonly title: string;
  readonly list: { readonly query: Query<Part<Entry>>; readonly more: () => void };
  readonly columns: readonly Column<Entry>[];
  readonly keyOf: (entry: Entry) => string;
  /** Shown instead of the table if there is no entry. */
  readonly empty: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** Which entries to show. Default: all. */
  readonly rows?: readonly Entry[];
}) {
  const data = query.data.value;
  const error = query.error.value;
  const shown = rows ?? data?.entries ?? [];
  const isMore = data !== null && data.total !== null && data.total > data.entries.length;
  return (
    <section class="panel" aria-label={title}>
      <div class="panel-head">
        <h2>{title}</h2>
        {actions}
      </div>
      {error !== null && <ErrorState error={error} retry={query.reload} />}
      {data === null && error === null && <Skeleton lines={4} height={37} label="Loading" />}
      {data !== null && shown.length === 0 && <div class="panel-body muted">{empty}</div>}
      {shown.length > 0 && <Table label={title} columns={columns} rows={shown} keyOf={keyOf} />}
      {isMore && (
        <Pager
          shown={data.entries.length}
          total={data.total}
          isAtLeast={data.isAtLeast}
          hasMore
          isLoading={query.isLoading.value}
          more={more}
        />
      )}
    </section>
  );
}
