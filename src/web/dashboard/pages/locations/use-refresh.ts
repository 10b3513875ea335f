import { useEffect } from 'preact/hooks';
import type { Query } from '../../api/query.ts';

/** Reads the query again from time to time while the window is visible: reports of agents have no events. */
export function useRefresh(query: Query<unknown>, everyMs: number): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden && !query.isLoading.value) query.reload();
    }, everyMs);
    return () => clearInterval(timer);
  }, [query, everyMs]);
}
