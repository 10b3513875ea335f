/** A YAML mapping as it was written. */
export type RawMapping = Readonly<Record<string, unknown>>;

export function isMapping(value: unknown): value is RawMapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
