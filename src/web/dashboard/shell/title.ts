import { useEffect } from 'preact/hooks';

const NAME = 'Vedette';

export function setTitle(title: string): void {
  document.title = `${title} – ${NAME}`;
}

/** For pages whose title depends on what they show. Null until it is known. */
export function useTitle(title: string | null): void {
  useEffect(() => {
    if (title !== null) setTitle(title);
  }, [title]);
}
