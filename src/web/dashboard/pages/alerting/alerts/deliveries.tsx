import { useState } from 'preact/hooks';
import { api, pageOf } from '../../../api/client.ts';
import type { components } from '../../../api/openapi.d.ts';
import { invalidate, useQuery } from '../../../api/query.ts';
import { may } from '../../../api/signed-in-user.ts';
import { Button } from '../../../parts/button.tsx';
import { ErrorState } from '../../../parts/error-state.tsx';
import { counted } from '../../../parts/formats.ts';
import { Pager } from '../../../parts/pager.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import { type MarkedState, StateMark } from '../../../parts/states/state-mark.tsx';
import { Table } from '../../../parts/table.tsx';
import { TimeText } from '../../../parts/time-text.tsx';
import { useAction } from '../../../parts/use-action.ts';
import { Link } from '../../../shell/link.tsx';
import { CHANNEL_WORDS } from '../channels/channel-form.ts';
import { usePolling } from '../use-polling.ts';
import { ALERT_WORDS } from './alert-types.ts';

export type Delivery = components['schemas']['AlertDelivery'];

const PER_PAGE = 25;
const MAX_PAGES = 20;
/** Deliveries have no events: while one is pending, the list is read again at this interval. */
const POLL_MS = 1_500;

const STATES: Readonly<Record<Delivery['state'], { state: MarkedState; word: string }>> = {
  waiting: { state: 'unknown', word: 'Waiting' },
  sending: { state: 'unknown', word: 'Sending' },
  sent: { state: 'passing', word: 'Delivered' },
  failed: { state: 'failing', word: 'Not delivered' },
};

/** Types of notices about acknowledgements. */
const TAKEN_WORDS = {
  ALERT_ACKNOWLEDGED: 'acknowledged',
  ALERT_UNACKNOWLEDGED: 'acknowledgement undone',
} as const;

type Of = { readonly alertId: string } | { readonly channelId: number };

/** The deliveries: when each was sent, by which channel, and the response of the receiver. */
export function Deliveries({ of }: { readonly of: Of }) {
  const [pages, setPages] = useState(1);
  const key = `deliveries ${JSON.stringify(of)} ${pages}`;
  const { data, error, isLoading, reload } = useQuery(key, (signal) => read(of, pages, signal), {
    on: ['alert', 'location'],
  });
  const found = data.value;
  const isPending = found?.entries.some(({ finishedAt }) => finishedAt === null) ?? false;
  usePolling(isPending ? POLL_MS : null, () => invalidate((each) => each === key));
  const isOfAlert = 'alertId' in of;
  return (
    <section class="panel" aria-labelledby="deliveries-title">
      <header class="panel-head">
        <h2 id="deliveries-title">{isOfAlert ? 'Who was notified' : 'Notifications sent to it'}</h2>
      </header>
      {error.value !== null && <ErrorState error={error.value} retry={reload} />}
      {found === null && error.value === null && (
        <div class="panel-body">
          <Skeleton lines={3} height={32} label="Loading notifications" />
        </div>
      )}
      {found !== null && found.entries.length === 0 && (
        <p class="panel-body muted">
          {isOfAlert
            ? 'Nobody: no channel that is notified of the check has selected this kind of alert. Recoveries go only to channels that were notified of the problem.'
            : 'None yet. Notifications are kept as long as results are.'}
        </p>
      )}
      {found !== null && found.entries.length > 0 && (
        <>
          <Table<Delivery>
            label={isOfAlert ? 'Notifications of this alert' : 'Notifications to this channel'}
            rows={found.entries}
            keyOf={({ id }) => id}
            columns={columnsOf(isOfAlert, () => invalidate((each) => each === key))}
          />
          <Pager
            shown={found.entries.length}
            total={found.total}
            isAtLeast={found.isAtLeast}
            hasMore={
              found.total !== null && found.entries.length < found.total && pages < MAX_PAGES
            }
            isLoading={isLoading.value}
            more={() => setPages(pages + 1)}
          />
        </>
      )}
    </section>
  );
}

function columnsOf(isOfAlert: boolean, reload: () => void) {
  return [
    isOfAlert
      ? {
          name: 'channel',
          head: 'Channel',
          cell: ({ channel, reason }: Delivery) => (
            <>
              <div class="alerting-name">
                <Link to={`/channels/${channel.id}`} title={channel.name}>
                  {channel.name}
                </Link>{' '}
                <span class="chip">{CHANNEL_WORDS[channel.type]}</span>
              </div>
              <Reason text={reason} />
            </>
          ),
        }
      : {
          name: 'what',
          head: 'What',
          cell: (delivery: Delivery) => (
            <>
              <What delivery={delivery} />
              <Reason text={delivery.reason} />
            </>
          ),
        },
    {
      name: 'state',
      head: 'State',
      cell: ({ state, attempts, reminder, alertType, messageCount, ...delivery }: Delivery) => (
        <>
          <StateMark {...STATES[state]} />
          {messageCount > 1 && (
            <span class="muted">
              {' '}
              in one message with {counted(messageCount - 1, 'other alert')}
            </span>
          )}
          <WaitsFor delivery={delivery} />
          {attempts > 1 && <span class="muted"> after {attempts} attempts</span>}
          {reminder > 0 && <span class="muted"> reminder {reminder}</span>}
          {isOfAlert && alertType in TAKEN_WORDS && (
            <span class="muted"> {TAKEN_WORDS[alertType as keyof typeof TAKEN_WORDS]}</span>
          )}
        </>
      ),
    },
    {
      name: 'answer',
      head: 'Answer',
      cell: (delivery: Delivery) => <Answer delivery={delivery} />,
    },
    {
      name: 'at',
      head: 'When',
      isNumber: true,
      cell: ({ lastAttemptAt, created_at }: Delivery) => (
        <TimeText at={lastAttemptAt ?? created_at} />
      ),
    },
    ...(may('write')
      ? [
          {
            name: 'resend',
            head: <span class="visually-hidden">Send again</span>,
            isNumber: true,
            cell: (delivery: Delivery) => <Resend delivery={delivery} reload={reload} />,
          },
        ]
      : []),
  ];
}

/** Why the channel is notified. */
function Reason({ text }: { readonly text: string | null }) {
  return text === null ? null : <p class="muted alerting-reason">{text}</p>;
}

/** The notice of a delivery. */
function What({
  delivery: { alertType, alertId, checkName, location, problem },
}: {
  readonly delivery: Delivery;
}) {
  if (problem !== null) {
    return <>{`${alertType.endsWith('_RECOVERY') ? 'Over: ' : ''}${problem}`}</>;
  }
  if (location !== null || checkName === null) {
    return (
      <>{`${alertType === 'LOCATION_SILENT' ? 'Silent location' : 'Location is back:'} ${location}`}</>
    );
  }
  const word =
    alertType in TAKEN_WORDS
      ? TAKEN_WORDS[alertType as keyof typeof TAKEN_WORDS]
      : ALERT_WORDS[alertType as keyof typeof ALERT_WORDS].word;
  return <Link to={`/alerts/${alertId}`}>{`${checkName}: ${word.toLowerCase()}`}</Link>;
}

/** The message with several notices that a delivery waits for. */
function WaitsFor({
  delivery: { waitsFor, nextAttemptAt },
}: {
  readonly delivery: Pick<Delivery, 'waitsFor' | 'nextAttemptAt'>;
}) {
  if (waitsFor === null || nextAttemptAt === null) return null;
  return (
    <span class="muted">
      {waitsFor === 'DIGEST' ? ' for the digest, ' : ' for others in the same message, until '}
      <TimeText at={nextAttemptAt} form={waitsFor === 'DIGEST' ? 'full' : 'clock'} />
    </span>
  );
}

function Answer({ delivery }: { readonly delivery: Delivery }) {
  const { lastStatus, lastError, lastAnswer, nextAttemptAt } = delivery;
  if (lastStatus === null && lastError === null && delivery.attempts === 0) {
    return <span class="muted">–</span>;
  }
  return (
    <div class="alerting-answer">
      {lastStatus !== null && <span class="nowrap">Status {lastStatus}</span>}
      {lastError !== null && <span>{lastError}</span>}
      {lastAnswer !== null && lastAnswer !== '' && <code>{lastAnswer}</code>}
      {nextAttemptAt !== null && delivery.attempts > 0 && (
        <span class="muted">
          next attempt <TimeText at={nextAttemptAt} form="clock" />
        </span>
      )}
    </div>
  );
}

function Resend({
  delivery: { id, channel, finishedAt },
  reload,
}: {
  readonly delivery: Delivery;
  readonly reload: () => void;
}) {
  const resend = useAction(async () => {
    const params = { path: { id: channel.id, deliveryId: id } };
    await api.POST('/v1/alert-channels/{id}/deliveries/{deliveryId}/resend', { params });
    reload();
  });
  if (finishedAt === null) return null;
  return (
    <Button
      class="small"
      isBusy={resend.isBusy}
      onClick={() => resend.run()}
      aria-label={`Send again to ${channel.name}`}
    >
      Send again
    </Button>
  );
}

async function read(of: Of, pages: number, signal: AbortSignal) {
  const entries: Delivery[] = [];
  let total: number | null = null;
  let isAtLeast = false;
  for (let page = 1; page <= pages; page += 1) {
    const query = { limit: PER_PAGE, page };
    const read = await pageOf(
      'alertId' in of
        ? api.GET('/v1/check-alerts/{id}/deliveries', {
            params: { path: { id: of.alertId }, query },
            signal,
          })
        : api.GET('/v1/alert-channels/{id}/deliveries', {
            params: { path: { id: of.channelId }, query },
            signal,
          }),
    );
    ({ total, isAtLeast } = read);
    entries.push(...read.entries);
    if (read.entries.length < PER_PAGE) break;
  }
  return { entries, total, isAtLeast };
}
