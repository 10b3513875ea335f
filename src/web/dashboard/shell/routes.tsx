import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { DASHBOARD_PATHS, type DashboardPageName } from '../../dashboard-paths.ts';
import { ApiError, asApiError } from '../api/errors.ts';
import { PAGES } from '../pages/index.ts';
import type { PageProps } from '../pages/page-props.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorState } from '../parts/error-state.tsx';
import { Link } from './link.tsx';
import { matchPath } from './match-path.ts';
import { setTitle } from './title.ts';
import { pathWithin } from './url-state.ts';

export interface CurrentPage {
  readonly name: DashboardPageName;
  readonly params: Readonly<Record<string, string>>;
}

/** The page at a path; null if there is none. Paths without names of parts come first. */
export function pageAt(path: string): CurrentPage | null {
  const found = (Object.entries(DASHBOARD_PATHS) as [DashboardPageName, string][])
    .sort(([, one], [, other]) => one.split(':').length - other.split(':').length)
    .map(([name, pattern]) => ({ name, params: matchPath(pattern, path) }))
    .find(({ params }) => params !== null);
  return found === undefined ? null : { name: found.name, params: found.params ?? {} };
}

const loaded = new Map<DashboardPageName, ComponentType<PageProps>>();

/** The page of the address. Its code is loaded when it is first shown; until then the previous page stays. */
export function Routes() {
  const { path } = useLocation();
  const within = pathWithin(path);
  const current = pageAt(within);
  const [shown, show] = useState<CurrentPage | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef<boolean>(true);

  useEffect(() => {
    setError(null);
    if (current === null) {
      setTitle('Not found');
      show(null);
      return;
    }
    let isLatest = true;
    const { load } = PAGES[current.name];
    (loaded.has(current.name)
      ? Promise.resolve()
      : load().then(({ Page }) => void loaded.set(current.name, Page))
    ).then(
      () => isLatest && show(current),
      // After an update of the service the old files are gone.
      (cause: unknown) => isLatest && setError(notLoaded(cause)),
    );
    return () => {
      isLatest = false;
    };
  }, [within]);

  useEffect(() => {
    if (shown === null) return;
    setTitle(PAGES[shown.name].title);
    // The first page keeps the focus of the browser; later ones are announced by their heading.
    const { current: isFirstPage } = isFirst as { readonly current: boolean };
    if (!isFirstPage) {
      scrollTo(0, 0);
      (main.current?.querySelector<HTMLElement>('h1') ?? main.current)?.focus();
    }
    isFirst.current = false;
  }, [shown]);

  const Page = shown === null ? undefined : loaded.get(shown.name);
  return (
    <main class="main" id="main" tabIndex={-1} ref={main}>
      {error !== null && <ErrorState error={error} retry={() => location.reload()} />}
      {current === null && <NotFound />}
      {error === null && current !== null && shown !== null && Page !== undefined && (
        <Guard key={`${shown.name} ${JSON.stringify(shown.params)}`}>
          <Page params={shown.params} />
        </Guard>
      )}
    </main>
  );
}

/** Catches the errors of one page, so that the navigation stays usable. */
function Guard({ children }: { readonly children: preact.ComponentChildren }) {
  const [error, reset] = useErrorBoundary(reportError);
  if (error === undefined) return <>{children}</>;
  return <ErrorState error={asApiError(error)} retry={reset} />;
}

function notLoaded(cause: unknown): ApiError {
  return new ApiError('This page could not be loaded. The service may have been updated: reload.', {
    kind: 'offline',
    code: 'PAGE_NOT_LOADED',
    cause,
  });
}

function NotFound() {
  return (
    <EmptyState title="There is no such page">
      <Link to="/">Go to the overview</Link>
    </EmptyState>
  );
}
