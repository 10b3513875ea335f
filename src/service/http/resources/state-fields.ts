/**
 * Fields of responses that the service changes without a write by a user, such as the time of the last use. They do
 * not count for `If-Match` (etag.ts): otherwise a user who is active could never be changed.
 */
const names = new Set<string>();

/** Declares such fields of a resource, once, beside its response schema. No resource may have one as content. */
export function declareStateFields(fields: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(fields)) names.add(name);
}

export function isStateField(name: string): boolean {
  return names.has(name);
}
