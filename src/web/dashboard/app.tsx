import { useEffect, useRef, useState } from 'preact/hooks';
import { LocationProvider, useLocation } from 'preact-iso';
import { type ApiError, asApiError } from './api/errors.ts';
import { followEvents } from './api/live-connection.ts';
import { loadSession, session } from './api/signed-in-user.ts';
import { PAGES } from './pages/index.ts';
import { EmptyState } from './parts/empty-state.tsx';
import { ErrorState } from './parts/error-state.tsx';
import { Toasts } from './parts/toast.tsx';
import { ConnectionState } from './shell/connection-state.tsx';
import { Link } from './shell/link.tsx';
import { Logo } from './shell/logo.tsx';
import { Navigation } from './shell/navigation.tsx';
import { pageAt, Routes } from './shell/routes.tsx';
import { DASHBOARD_SCOPE } from './shell/scope.ts';
import { pathWithin } from './shell/url-state.ts';
import { UserMenu } from './shell/user-menu.tsx';

/** Pages are shown once it is known who is signed in. */
export function App() {
  const [isReady, setReady] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const [attempt, setAttempt] = useState(1);
  useEffect(() => {
    const ended = new AbortController();
    setError(null);
    loadSession(ended.signal).then(
      () => {
        setReady(true);
        if (session.value.account !== null) void followEvents(ended.signal);
      },
      (thrown: unknown) => {
        const found = asApiError(thrown);
        // The browser is loading the sign-in page.
        if (found.kind !== 'unauthorized' && !ended.signal.aborted) setError(found);
      },
    );
    return () => ended.abort();
  }, [attempt]);
  if (error !== null) {
    return (
      <main class="main">
        <ErrorState error={error} retry={() => setAttempt(attempt + 1)} />
      </main>
    );
  }
  if (!isReady) return null;
  return (
    <LocationProvider scope={DASHBOARD_SCOPE}>
      <Shell />
      <Toasts />
    </LocationProvider>
  );
}

function Shell() {
  const { path, url } = useLocation();
  const [isOpen, setOpen] = useState(false);
  const drawer = useRef<HTMLDialogElement>(null);
  const found = pageAt(pathWithin(path));
  const section = found === null ? null : PAGES[found.name].section;
  useEffect(() => setOpen(false), [url]);
  useEffect(() => {
    if (isOpen) drawer.current?.showModal();
    else drawer.current?.close();
  }, [isOpen]);
  if (session.value.account === null) {
    return (
      <main class="main">
        <EmptyState title="You belong to no account">An admin of one can invite you.</EmptyState>
      </main>
    );
  }
  const side = (
    <>
      <Link to="/" class="brand">
        <Logo />
        Vedette
      </Link>
      <Navigation section={section} />
      <div class="side-end">
        <ConnectionState />
        <UserMenu />
      </div>
    </>
  );
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <div class="shell">
        <header class="top">
          <button
            type="button"
            class="button icon"
            aria-label="Menu"
            aria-expanded={isOpen}
            onClick={() => setOpen(true)}
          >
            <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
              <path d="M2 4h12M2 8h12M2 12h12" stroke="currentColor" stroke-width="1.6" />
            </svg>
          </button>
          <Link to="/" class="brand">
            <Logo />
            Vedette
          </Link>
          <ConnectionState />
        </header>
        <header class="side">{side}</header>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it, too */}
        <dialog
          class="drawer"
          aria-label="Menu"
          ref={drawer}
          onClose={() => setOpen(false)}
          onClick={(event) => event.target === drawer.current && setOpen(false)}
        >
          {isOpen && <div class="drawer-content">{side}</div>}
        </dialog>
        <Routes />
      </div>
    </>
  );
}
