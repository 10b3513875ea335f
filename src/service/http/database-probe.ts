import type { Clock } from '../../runtime/clock.ts';

/** So long the database may take to say anything at all. */
const LIMIT_MS = 2_000;

export interface DatabaseProbe {
  /** Whether the database answers within two seconds. Never rejects. */
  answers(): Promise<boolean>;
}

/**
 * Asks the least that can be asked. Whoever asks while an answer is awaited shares it: a database
 * that hangs is not piled upon.
 */
export function createDatabaseProbe(
  store: { query(text: string): Promise<unknown> },
  clock: Clock,
): DatabaseProbe {
  let asking: Promise<boolean> | null = null;
  const ask = (): Promise<boolean> =>
    store.query('select 1').then(
      () => true,
      () => false,
    );
  return {
    answers() {
      asking ??= ask().finally(() => {
        asking = null;
      });
      const asked = asking;
      return new Promise((resolve) => {
        const cancel = clock.after(LIMIT_MS, () => resolve(false));
        void asked.then((isUp) => {
          cancel();
          resolve(isUp);
        });
      });
    },
  };
}
