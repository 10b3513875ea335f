/** The fields of a check that its `defaults` are merged with key by key; all others are replaced completely. */
export const MERGED_FIELDS = ['request', 'retryStrategy', 'alertSettings'] as const;
export type MergedField = (typeof MERGED_FIELDS)[number];

/** Fields that differ from check to check, so that `defaults` cannot have them. */
export const WITHOUT_DEFAULT: readonly string[] = ['checkType', 'name'];
