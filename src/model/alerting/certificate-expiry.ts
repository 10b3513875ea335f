import { DAY_MS } from '../time-units.ts';

/** The largest number of days before expiry that a notice can be configured for. */
export const MAX_THRESHOLD_DAYS = 30;

/** The certificate that the last notice to subscribers reported. */
export interface NotifiedExpiry {
  /** Epoch milliseconds, within a day. */
  readonly endsAtMs: number;
  /** The fewest days left that were sent. */
  readonly notifiedDays: number;
}

/** A certificate as a run saw it. */
export interface CertificateObservation {
  readonly slotMs: number;
  /** Whole days until it expires; negative once it has. */
  readonly daysRemaining: number;
}

/**
 * Whether subscribers get a notice about a certificate: one per certificate and day, from 30 days
 * down to 0. A target can serve an old and a new certificate side by side, so a later one takes
 * over only when the one before it has expired. An expired one gets no notice: the check itself
 * fails because of it.
 *
 * @returns the state to save and to notify about; null if there is nothing new
 */
export function nextExpiryNotice(
  before: NotifiedExpiry | null,
  observation: CertificateObservation,
): NotifiedExpiry | null {
  const { slotMs, daysRemaining } = observation;
  if (daysRemaining < 0 || daysRemaining > MAX_THRESHOLD_DAYS) return null;
  const endsAtMs = slotMs + daysRemaining * DAY_MS;
  const expiry = { endsAtMs, notifiedDays: daysRemaining };
  if (before === null) return expiry;
  // Whole days: two runs can compute ends of the same certificate up to a day apart.
  const isLater = endsAtMs > before.endsAtMs + DAY_MS;
  if (isLater) return slotMs > before.endsAtMs ? expiry : null;
  return daysRemaining < before.notifiedDays ? expiry : null;
}

/** Whole days are inexact by up to one day at either end. */
const SAME_END_MS = 2 * DAY_MS;

/** Epoch milliseconds at which a certificate expires, exact to a day. */
export function certificateEndMs(atMs: number, daysRemaining: number): number {
  return atMs + daysRemaining * DAY_MS;
}

/** Whether two expiry instants belong to the same certificate: a renewal moves it further. */
export function isSameCertificateEnd(oneMs: number, otherMs: number): boolean {
  return Math.abs(oneMs - otherMs) <= SAME_END_MS;
}
