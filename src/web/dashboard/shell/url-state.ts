import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { basePath } from './base-path.ts';

export interface UrlState {
  /** The query of the address, without the account. */
  readonly query: URLSearchParams;
  /** The first value; null if there is none. */
  get(name: string): string | null;
  all(name: string): readonly string[];
  /**
   * Changes the query. Null and empty lists remove a name. Filters replace the entry of the history, so that Back
   * leaves the page; with `isStep` there is a new one.
   */
  set(
    changes: Readonly<Record<string, string | readonly string[] | null>>,
    options?: { readonly isStep?: boolean },
  ): void;
}

/** The state of a view that is in its address: filters, tabs, time ranges. */
export function useUrlState(): UrlState {
  const { url, route } = useLocation();
  return useMemo(() => {
    const query = new URLSearchParams(url.split('?')[1] ?? '');
    return {
      query,
      get: (name) => query.get(name),
      all: (name) => query.getAll(name),
      set(changes, { isStep = false } = {}) {
        // The address itself: several changes may come before the next rendering.
        const next = new URLSearchParams(location.search);
        for (const [name, value] of Object.entries(changes)) {
          next.delete(name);
          for (const one of [value ?? []].flat()) if (one !== '') next.append(name, one);
        }
        const text = next.toString();
        route(`${location.pathname}${text === '' ? '' : `?${text}`}`, !isStep);
      },
    };
  }, [url]);
}

/** The path of the address within the dashboard. */
export function pathWithin(path: string): string {
  const within = path.startsWith(basePath) ? path.slice(basePath.length) : path;
  return within === '' ? '/' : within;
}
