/** What the agent exports by OTLP. */
export const EXPORT_SIGNALS = ['metrics', 'traces'] as const;
export type ExportSignal = (typeof EXPORT_SIGNALS)[number];

/**
 * Why spans or data points were not exported:
 * - `queue`: too many waited
 * - `late`: the next export of metrics was due, or would have been
 * - `refused`: the receiver rejected them permanently
 * - `stopped`: the agent ended
 */
export const EXPORT_DROP_REASONS = ['queue', 'late', 'refused', 'stopped'] as const;
export type ExportDropReason = (typeof EXPORT_DROP_REASONS)[number];
