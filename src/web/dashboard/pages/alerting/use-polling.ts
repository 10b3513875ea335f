import { useEffect, useRef } from 'preact/hooks';

/** Calls the function at the interval while the page is visible; null: never. */
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
