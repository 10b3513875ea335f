import { api, bodyOf } from '../../../api/client.ts';
import { may } from '../../../api/signed-in-user.ts';
import { Button } from '../../../parts/button.tsx';
import { Acknowledger } from '../../../parts/states/quiet-marks.tsx';
import { showToast } from '../../../parts/toast.tsx';
import { useAction } from '../../../parts/use-action.ts';
import type { Alert } from './alert-types.ts';

/** Alerts of certificates have no reminders and cannot be acknowledged. */
function isToTake({ isOpen, alertType }: Alert): boolean {
  return may('run') && isOpen && alertType !== 'ALERT_SSL';
}

/** A button that acknowledges an open alert or undoes it. Shows nothing for other alerts and for the role read. */
export function AcknowledgeButton({
  alert,
  kind,
  class: given,
  onChanged,
}: {
  readonly alert: Alert;
  readonly kind?: 'primary';
  readonly class?: string;
  readonly onChanged: (alert: Alert) => void;
}) {
  const { id, name, acknowledgement } = alert;
  const isTaken = acknowledgement !== null;
  const change = useAction(async () => {
    const params = { path: { id } };
    const changed = await bodyOf(
      isTaken
        ? api.POST('/v1/check-alerts/{id}/unacknowledge', { params })
        : api.POST('/v1/check-alerts/{id}/acknowledge', { params }),
    );
    onChanged(changed);
    const by = changed.acknowledgement?.by.name;
    showToast({
      kind: 'plain',
      text:
        by === undefined
          ? 'The alert is no longer acknowledged. Reminders continue.'
          : `${by} acknowledged the alert. Everybody who was notified of it is informed.`,
    });
  });
  if (!isToTake(alert)) return null;
  return (
    <Button
      {...(kind === undefined || isTaken ? {} : { kind })}
      {...(given === undefined ? {} : { class: given })}
      isBusy={change.isBusy}
      onClick={() => change.run()}
      aria-label={isTaken ? `Undo acknowledgement of ${name}` : `Acknowledge ${name}`}
    >
      {isTaken ? 'Undo acknowledgement' : 'Acknowledge'}
    </Button>
  );
}

/** Who has acknowledged an alert, and since when. */
export function AcknowledgedBy({ alert }: { readonly alert: Alert }) {
  const { acknowledgement, alertType } = alert;
  if (acknowledgement === null) {
    // These cannot be acknowledged.
    const isOfNobody = alertType.endsWith('RECOVERY') || alertType === 'ALERT_SSL';
    return <span class="muted">{isOfNobody ? '–' : 'nobody'}</span>;
  }
  return (
    <span class="alerting-taken">
      <Acknowledger {...acknowledgement} />
    </span>
  );
}
