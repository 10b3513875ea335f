import { isTaken } from '../../../model/alerting/acknowledgement.ts';
import type { Judgement } from '../judgement-builder.ts';
import type { AlertRecord } from '../states.sql.ts';

/**
 * Ends the acknowledgement of a problem that got worse without a new alert because the check flaps. The minutes of the
 * escalation begin again.
 *
 * @returns the id of the check and its record; nothing for any other judgement
 */
export function withoutLapsedAcknowledgement(
  { subject: { checkId, record: before }, record }: Judgement,
  atMs: number,
): readonly (readonly [string, AlertRecord])[] {
  const { alertId, state } = record;
  if (before === null || alertId === null || alertId !== before.alertId) return [];
  if (!isTaken(before.state) || isTaken(state)) return [];
  const wait = state.wait === null ? null : { ...state.wait, sinceMs: atMs };
  return [
    [checkId, { ...record, acknowledgement: null, state: { ...state, acknowledged: null, wait } }],
  ];
}
