import type { AlertRules } from './alert-settings.ts';

/** What reminders of a problem depend on. */
interface Notified {
  /** When the last notice or reminder was sent; epoch milliseconds. */
  readonly notifiedAtMs: number;
  /** How many reminders were sent since the last notice. */
  readonly reminders: number;
}

/**
 * When the service sends its next reminder of a problem (src/service/README.md, "Alerts"), in epoch
 * milliseconds; null after the last one.
 */
export function reminderDueAtMs(
  { notifiedAtMs, reminders }: Notified,
  { amount, everyMs }: AlertRules['reminders'],
): number | null {
  return reminders < amount ? notifiedAtMs + everyMs : null;
}
