/** The values of `--output`. */
export const OUTPUT_FORMATS = ['pretty', 'json'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];
