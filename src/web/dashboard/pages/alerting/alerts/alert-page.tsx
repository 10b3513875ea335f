import { api, bodyOf } from '../../../api/client.ts';
import { useQuery } from '../../../api/query.ts';
import { ErrorState } from '../../../parts/error-state.tsx';
import { responseTime } from '../../../parts/formats.ts';
import { PageHeader } from '../../../parts/page-header.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import { StateMark } from '../../../parts/states/state-mark.tsx';
import { TimeText } from '../../../parts/time-text.tsx';
import { Link } from '../../../shell/link.tsx';
import { useTitle } from '../../../shell/title.ts';
import type { PageProps } from '../../page-props.ts';
import { Sections } from '../sections.tsx';
import { AcknowledgeButton, AcknowledgedBy } from './acknowledgement.tsx';
import { type Alert, runPathOf, wordsOf } from './alert-types.ts';
import { Deliveries } from './deliveries.tsx';
import { Recipients } from './recipients.tsx';

/** One alert: what happened, and who was notified of it. */
export function Page({ params: { alertId = '' } }: PageProps) {
  const { data, error, reload, set } = useQuery(
    `alert ${alertId}`,
    (signal) =>
      bodyOf(api.GET('/v1/check-alerts/{id}', { params: { path: { id: alertId } }, signal })),
    { on: ['alert', 'check.status_changed'] },
  );
  const alert = data.value;
  useTitle(alert === null ? null : `${alert.name} ${wordsOf(alert).says}`);
  if (alert === null) {
    return (
      <>
        <PageHeader title="Alert" />
        <Sections current="/alerts" />
        {error.value === null ? (
          <Skeleton lines={8} label="Loading the alert" />
        ) : (
          <ErrorState error={error.value} retry={reload} />
        )}
      </>
    );
  }
  const { state, word, says } = wordsOf(alert);
  const runPath = runPathOf(alert);
  return (
    <>
      <PageHeader
        title={`${alert.name} ${says}`}
        actions={
          <>
            <AcknowledgeButton alert={alert} onChanged={set} />
            <Link class="button primary" to={runPath}>
              {alert.checkType === 'HEARTBEAT'
                ? 'See the heartbeat'
                : alert.resultId === null
                  ? 'See the check'
                  : 'See the run'}
            </Link>
          </>
        }
      >
        <StateMark state={state} word={word} />
        {alert.isOpen && <span class="chip">open</span>}
        {alert.acknowledgement !== null && <span class="chip">acknowledged</span>}
      </PageHeader>
      <Sections current="/alerts" />
      <Facts alert={alert} />
      <Deliveries of={{ alertId }} />
      <Recipients checkId={alert.checkId} />
    </>
  );
}

function Facts({ alert }: { readonly alert: Alert }) {
  const { checkId, error, runLocation, statusCode, alertedAt, startedAt } = alert;
  const isHeartbeat = alert.checkType === 'HEARTBEAT';
  return (
    <section class="panel" aria-label="What happened">
      <dl class="alerting-facts panel-body">
        {error !== null && (
          <div class="alerting-wide">
            <dt>What led to it</dt>
            <dd class="alerting-error-text">{error}</dd>
          </div>
        )}
        <div>
          <dt>Alerted</dt>
          <dd>
            <TimeText at={alertedAt} form="full" /> (<TimeText at={alertedAt} />)
          </dd>
        </div>
        <div>
          <dt>Acknowledged by</dt>
          <dd>
            <AcknowledgedBy alert={alert} />
          </dd>
        </div>
        <div>
          <dt>Run began</dt>
          <dd>
            <TimeText at={startedAt} form="full" />
          </dd>
        </div>
        <div>
          <dt>Check</dt>
          <dd>
            <Link to={`/${isHeartbeat ? 'heartbeats' : 'checks'}/${encodeURIComponent(checkId)}`}>
              {alert.name}
            </Link>{' '}
            <span class="chip">{alert.checkType}</span>
            <br />
            <Link to={`/alerts?show=all&checkId=${encodeURIComponent(checkId)}`}>
              All of its alerts
            </Link>
          </dd>
        </div>
        {!isHeartbeat && (
          <>
            <div>
              <dt>Location</dt>
              <dd>{runLocation}</dd>
            </div>
            <div>
              <dt>Response time</dt>
              <dd>{responseTime(alert.responseTime)}</dd>
            </div>
          </>
        )}
        {statusCode !== null && (
          <div>
            <dt>Status</dt>
            <dd>{statusCode}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}
