import type { Clock } from '../../runtime/clock.ts';

/** A probe without an answer by then has failed. */
const LIMIT_MS = 2_000;

/** Whether it answers with true within two seconds. Never rejects. */
export type LimitedProbe = () => Promise<boolean>;

/**
 * Concurrent callers share one probe, so that hanging probes do not accumulate.
 *
 * @param ask a rejection counts as false
 */
export function createLimitedProbe(ask: () => Promise<boolean>, clock: Clock): LimitedProbe {
  let asking: Promise<boolean> | null = null;
  return () => {
    asking ??= ask()
      .catch(() => false)
      .finally(() => {
        asking = null;
      });
    const asked = asking;
    return new Promise((resolve) => {
      const cancel = clock.after(LIMIT_MS, () => resolve(false));
      void asked.then((isYes) => {
        cancel();
        resolve(isYes);
      });
    });
  };
}
