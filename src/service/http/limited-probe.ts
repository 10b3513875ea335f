import type { Clock } from '../../runtime/clock.ts';

/** So long what is asked may take to say anything at all. */
const LIMIT_MS = 2_000;

/** Whether it answers with true within two seconds. Never rejects. */
export type LimitedProbe = () => Promise<boolean>;

/**
 * Whoever asks while an answer is awaited shares it: what hangs is not piled upon.
 *
 * @param ask may reject, which is a no
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
