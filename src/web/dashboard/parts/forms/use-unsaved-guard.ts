import { useEffect } from 'preact/hooks';

const QUESTION = 'What you have changed here is not saved. Leave it?';

/** Whether the user wants to lose what is not saved. */
export function mayLeave(isChanged: boolean): boolean {
  return !isChanged || confirm(QUESTION);
}

/** While there are unsaved changes, asks before a link or the browser leaves the page. */
export function useUnsavedGuard(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return;
    const onUnload = (event: BeforeUnloadEvent): void => event.preventDefault();
    const onClick = (event: MouseEvent): void => {
      const link = (event.target as Element | null)?.closest?.('a[href]');
      if (link === null || link === undefined || event.ctrlKey || event.metaKey) return;
      if (link.getAttribute('href')?.startsWith('#') || confirm(QUESTION)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    addEventListener('beforeunload', onUnload);
    document.addEventListener('click', onClick, { capture: true });
    return () => {
      removeEventListener('beforeunload', onUnload);
      document.removeEventListener('click', onClick, { capture: true });
    };
  }, [isChanged]);
}
