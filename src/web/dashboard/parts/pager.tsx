import { Button } from './button.tsx';
import { count, totalText } from './formats.ts';

/** A button that loads the next page of a list with a cursor. */
export function Pager({
  shown,
  total,
  isAtLeast = false,
  hasMore,
  isLoading,
  more,
}: {
  readonly shown: number;
  /** Null if the total is not known. */
  readonly total: number | null;
  /** Whether there are more than `total`. */
  readonly isAtLeast?: boolean;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly more: () => void;
}) {
  // The count adds nothing where the whole list is shown.
  if (!hasMore && (total === null || (shown >= total && !isAtLeast))) return null;
  return (
    <div class="pager">
      <span class="muted">
        {count(shown)}
        {total === null ? '' : ` of ${totalText(total, isAtLeast)}`}
      </span>
      {hasMore && (
        <Button onClick={more} isBusy={isLoading}>
          Show more
        </Button>
      )}
    </div>
  );
}
