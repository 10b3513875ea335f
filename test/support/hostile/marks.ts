/** In every credential of theirs that nobody is ever shown. */
export function hiddenOf(mark: string): string {
  return `${mark}-hidden-from-all`;
}

/** In every address of theirs that is a secret itself. */
export function unshownOf(mark: string): string {
  return `${mark}-hidden-from-readers`;
}
