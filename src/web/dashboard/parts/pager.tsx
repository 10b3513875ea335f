import { Button } from './button.tsx';
import { count } from './formats.ts';

/** For lists that go on by a cursor: shows more below what is there. */
export function Pager({
  shown,
  total,
  hasMore,
  isLoading,
  more,
}: {
  readonly shown: number;
  /** Null if it is not known. */
  readonly total: number | null;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly more: () => void;
}) {
  if (!hasMore && total === null) return null;
  return (
    <div class="pager">
      <span class="muted">
        {count(shown)}
        {total === null ? '' : ` of ${count(total)}`}
      </span>
      {hasMore && (
        <Button onClick={more} isBusy={isLoading}>
          Show more
        </Button>
      )}
    </div>
  );
}
