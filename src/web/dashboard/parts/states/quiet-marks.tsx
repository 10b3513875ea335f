import type { components } from '../../api/openapi.d.ts';
import { TimeText } from '../time-text.tsx';

type Status = components['schemas']['CheckStatus'];
type Taken = NonNullable<Status['acknowledgement']>;

/** The reasons why nobody is notified of a check. */
export function QuietMarks({
  muted,
  mutedByGroup,
  inMaintenance,
}: Pick<Status, 'muted' | 'mutedByGroup' | 'inMaintenance'>) {
  return (
    <>
      {muted && <span class="chip">muted</span>}
      {mutedByGroup && !muted && (
        <span class="chip" title="Its group is muted: nobody is notified">
          muted by its group
        </span>
      )}
      {inMaintenance && (
        <span
          class="chip"
          title="A maintenance window pauses the check, or silences its notifications, now"
        >
          in maintenance
        </span>
      )}
    </>
  );
}

/** Somebody takes care of the open alert. */
export function AcknowledgedMark({ taken }: { readonly taken: Taken | null }) {
  return (
    taken !== null && (
      <span class="chip" title={`By ${taken.by.name}`}>
        acknowledged
      </span>
    )
  );
}

/** Who has an alert, since when. */
export function Acknowledger({ by, at }: Taken) {
  return (
    <>
      {by.name}
      {by.kind === 'channel' && <span class="muted"> by the link in a message</span>}{' '}
      <span class="muted">
        <TimeText at={at} />
      </span>
    </>
  );
}
