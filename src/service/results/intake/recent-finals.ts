import type { ReceivedResult } from '../../../wire/v1/check-result.ts';

/** A result is current for two periods of its check, and at least for this long. */
const MIN_CURRENT_MS = 15 * 60_000;

/**
 * The FINALs recent enough to change the status of their checks and to cause alerts. Older ones, of an
 * agent that was offline for a while, are stored only.
 *
 * @param atMs now, by the clock of the agent; epoch milliseconds
 * @param frequencyOf the check's period in minutes, by its id
 */
export function recentFinals(
  finals: readonly ReceivedResult[],
  {
    atMs,
    frequencyOf,
  }: {
    readonly atMs: number;
    readonly frequencyOf: (checkId: string) => number;
  },
): ReadonlySet<ReceivedResult> {
  return new Set(
    finals.filter(({ checkId, checkRunId }) => {
      const currentForMs = Math.max(MIN_CURRENT_MS, 2 * frequencyOf(checkId) * 60_000);
      return atMs - checkRunId <= currentForMs;
    }),
  );
}
