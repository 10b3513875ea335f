/** Fields into which `defaults` are merged key by key; a check replaces all others completely. */
export const MERGED_FIELDS = ['request', 'retryStrategy', 'alertSettings'] as const;
export type MergedField = (typeof MERGED_FIELDS)[number];

/** Fields that differ from check to check, so that `defaults` cannot have them. */
export const WITHOUT_DEFAULT: readonly string[] = ['checkType', 'name'];
