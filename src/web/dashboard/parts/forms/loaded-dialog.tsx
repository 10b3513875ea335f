import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { type Query, useQuery } from '../../api/query.ts';
import { Dialog } from '../dialog.tsx';
import { ErrorState } from '../error-state.tsx';
import { Skeleton } from '../skeleton.tsx';
import type { Loaded } from './use-saving.ts';

let openings = 0;

/**
 * Reads a resource for a form. Each opening reads it again, because an earlier ETag may be outdated.
 *
 * @param key begins with what `invalidate` looks for
 */
export function useLoaded<Resource>(
  key: string,
  get: (signal: AbortSignal) => Promise<{ readonly data?: Resource; readonly response: Response }>,
): Query<Loaded<Resource>> {
  const opening = useMemo(() => {
    openings += 1;
    return openings;
  }, []);
  return useQuery(`${key} opening ${opening}`, async (signal) => {
    const { data, response } = await get(signal);
    return { resource: data as Resource, etag: response.headers.get('etag') };
  });
}

/**
 * A dialog with the form of a resource. The form appears only after the resource is read, so that it cannot
 * overwrite changes of others.
 */
export function LoadedDialog<Resource>({
  title,
  what,
  query,
  onClose,
  children,
}: {
  /** While it is read. */
  readonly title: string;
  /** For example `variable`. */
  readonly what: string;
  readonly query: Query<Loaded<Resource>>;
  readonly onClose: () => void;
  /** The dialog with the form. */
  readonly children: (loaded: Loaded<Resource>) => ComponentChildren;
}) {
  const loaded = query.data.value;
  const error = query.error.value;
  if (loaded !== null) return <>{children(loaded)}</>;
  return (
    <Dialog title={title} onClose={onClose}>
      {error === null ? (
        <Skeleton lines={4} height={52} label={`Loading the ${what}`} />
      ) : (
        <ErrorState error={error} retry={query.reload} />
      )}
    </Dialog>
  );
}
