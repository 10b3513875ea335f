import { useEffect, useRef } from 'preact/hooks';

/** Calls it every so often while the page is visible; null: not. */
export function usePolling(intervalMs: number | null, call: () => void): void {
  const latest = useRef(call);
  latest.current = call;
  useEffect(() => {
    if (intervalMs === null) return;
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
}
