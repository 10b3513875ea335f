import { api, pageOf } from '../../../api/client.ts';
import { useQuery } from '../../../api/query.ts';
import { TimeText } from '../../../parts/time-text.tsx';
import { Link } from '../../../shell/link.tsx';
import { AcknowledgeButton, AcknowledgedBy } from './acknowledgement.tsx';
import type { Alert } from './alert-types.ts';
import '../alerting.css';

/** The open alert of a check and its acknowledgement. Shows nothing if there is no open alert. */
export function OpenAlert({ checkId }: { readonly checkId: string }) {
  const query = useQuery<{ readonly alert: Alert | null }>(
    `open alert ${checkId}`,
    async (signal) => {
      const { entries } = await pageOf(
        api.GET('/v1/check-alerts', {
          params: { query: { open: true, checkId, limit: 1 } },
          signal,
        }),
      );
      return { alert: entries[0] ?? null };
    },
    {
      on: ['alert', 'check.status_changed', 'check.updated'],
      concerns: ({ kind, resourceId, data }) =>
        (kind.startsWith('alert.') ? data.checkId : resourceId) === checkId,
    },
  );
  const alert = query.data.value?.alert ?? null;
  if (alert === null) return null;
  return (
    <section class="panel alerting-open" aria-label="Open alert">
      <p>
        <Link to={`/alerts/${alert.id}`}>Alert</Link> open for{' '}
        <TimeText at={alert.alertedAt} form="since" />
        {alert.flapping === 'STARTED' && ', which flaps: it gives no more alerts until it is calm'}
        {alert.acknowledgement === null ? (
          ', acknowledged by nobody'
        ) : (
          <>
            , acknowledged by <AcknowledgedBy alert={alert} />
          </>
        )}
      </p>
      <AcknowledgeButton alert={alert} onChanged={(changed) => query.set({ alert: changed })} />
    </section>
  );
}
