import { useLayoutEffect } from 'preact/hooks';

const QUESTION = 'Your changes here are not saved. Leave anyway?';

/** Whether the user agrees to lose unsaved changes. */
export function mayLeave(isChanged: boolean): boolean {
  return !isChanged || confirm(QUESTION);
}

/** Forms with unsaved changes. The user is asked once for all of them. */
const changed = new Set<symbol>();
/** Values that are shown only once. The user may leave them without a question: they may have been copied. */
const shownOnce = new Set<symbol>();
/** The address of the view with the forms. */
let address = '';
/** The user wants to leave: a page that the browser itself loads must not make it ask again. */
let isLeaving = false;
/** After this time the page has been left, or was not left at all. */
const LEAVING_MS = 2_000;

/** While there are unsaved changes, asks before a link, the browser's Back or its closing leaves the page. */
export function useUnsavedGuard(isChanged: boolean): void {
  // A layout effect: an effect after the next paint may come too late for Back.
  useLayoutEffect(() => {
    if (!isChanged) return;
    const form = Symbol('form');
    add(form);
    return () => remove(form);
  }, [isChanged]);
}

/** While a value is shown that can be read only once, such as a key, an ended session does not leave the page. */
export function useShownOnce(isShown: boolean): void {
  useLayoutEffect(() => {
    if (!isShown) return;
    const part = Symbol('shown once');
    shownOnce.add(part);
    return () => void shownOnce.delete(part);
  }, [isShown]);
}

/** Watches Back and Forward. To be called before the router listens, which must not see a cancelled navigation. */
export function watchHistory(): void {
  addEventListener('popstate', onPopState);
}

/** Whether leaving the page would lose unsaved changes or a value that is shown only once. */
export function wouldLose(): boolean {
  return changed.size > 0 || shownOnce.size > 0;
}

function add(form: symbol): void {
  changed.add(form);
  if (changed.size > 1) return;
  isLeaving = false;
  address = location.href;
  addEventListener('beforeunload', onUnload);
  // In the capture phase: before the router and the links themselves.
  document.addEventListener('click', onClick, { capture: true });
}

function remove(form: symbol): void {
  changed.delete(form);
  if (changed.size > 0) return;
  removeEventListener('beforeunload', onUnload);
  document.removeEventListener('click', onClick, { capture: true });
}

function leave(): void {
  isLeaving = true;
  setTimeout(() => {
    isLeaving = false;
  }, LEAVING_MS);
}

function onUnload(event: BeforeUnloadEvent): void {
  if (!isLeaving) event.preventDefault();
}

function onClick(event: MouseEvent): void {
  const link = (event.target as Element | null)?.closest?.<HTMLAnchorElement>('a[href]');
  if (link === null || link === undefined || !leaves(link, event)) return;
  if (confirm(QUESTION)) {
    leave();
    return;
  }
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** Whether a click on a link ends this view. */
function leaves(link: HTMLAnchorElement, event: MouseEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return false;
  const isElsewhere = link.target !== '' && link.target !== '_self';
  return !isElsewhere && !link.hasAttribute('download') && !isSameView(link.href, location.href);
}

/** Whether two addresses differ by their hashes at most. */
function isSameView(one: string, other: string): boolean {
  return one.split('#')[0] === other.split('#')[0];
}

/** The browser has gone back already: if the user declines, the entry that it left is added again. */
function onPopState(event: PopStateEvent): void {
  if (changed.size === 0 || isLeaving || isSameView(location.href, address)) return;
  if (confirm(QUESTION)) {
    leave();
    return;
  }
  event.stopImmediatePropagation();
  history.pushState(null, '', address);
}
