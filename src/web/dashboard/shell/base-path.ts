/** The path of PUBLIC_URL, without a slash at its end: the service writes it into the page. */
export const basePath: string =
  document.querySelector<HTMLMetaElement>('meta[name=base-path]')?.content ?? '';

/** The path of the sign-in page, which leads back to the view afterwards. */
export function signInPath(view: string): string {
  const next = view.startsWith(basePath) ? view.slice(basePath.length) : view;
  return `${basePath}/sign-in?next=${encodeURIComponent(next)}`;
}
