import type { ReceivedResult } from '../../../wire/v1/check-result.ts';

/** A result is in time for two periods of its check, and at least for this long. */
const MIN_IN_TIME_MS = 15 * 60_000;

/**
 * Returns the FINALs that are recent enough to change the status of their checks and to cause alerts. Late ones,
 * from an agent that was offline, are only stored.
 *
 * @param atMs now, by the clock of the agent; epoch milliseconds
 * @param frequencyOf the check's period in minutes, by its id
 */
export function finalsInTime(
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
      const inTimeForMs = Math.max(MIN_IN_TIME_MS, 2 * frequencyOf(checkId) * 60_000);
      return atMs - checkRunId <= inTimeForMs;
    }),
  );
}
