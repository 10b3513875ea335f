/** A part of every credential of the victim that no response may contain. */
export function credentialText(mark: string): string {
  return `${mark}-hidden-from-all`;
}

/** A part of every URL of the victim that is itself a secret. */
export function secretUrlText(mark: string): string {
  return `${mark}-hidden-from-readers`;
}
