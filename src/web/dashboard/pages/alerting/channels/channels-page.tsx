import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, pageOf } from '../../../api/client.ts';
import { useQuery } from '../../../api/query.ts';
import { may } from '../../../api/signed-in-user.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { ErrorState } from '../../../parts/error-state.tsx';
import { PageHeader } from '../../../parts/page-header.tsx';
import { Pager } from '../../../parts/pager.tsx';
import { MonitoringProblems } from '../../../parts/problems/monitoring-problems.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import { Table } from '../../../parts/table.tsx';
import { addressOf, Link } from '../../../shell/link.tsx';
import { Sections } from '../sections.tsx';
import {
  CHANNEL_TYPES,
  CHANNEL_WORDS,
  type Channel,
  channelName,
  servedWords,
  wishesOf,
} from './channel-form.ts';

const PER_PAGE = 50;

const COLUMNS = [
  {
    name: 'name',
    head: 'Channel',
    cell: (channel: Channel) => (
      <div class="alerting-name">
        <Link to={`/channels/${channel.id}`} title={channelName(channel)}>
          {channelName(channel)}
        </Link>{' '}
        <span class="chip">{CHANNEL_WORDS[channel.type]}</span>
      </div>
    ),
  },
  { name: 'wishes', head: 'Notified of', cell: wishesOf },
  {
    name: 'checks',
    head: 'Checks',
    isNumber: true,
    cell: (channel: Channel) => servedWords(channel) ?? <span class="degraded">none</span>,
  },
] as const;

/** Where alerts are sent. */
export function Page() {
  const { route } = useLocation();
  const [pages, setPages] = useState(1);
  const { data, error, isLoading, reload } = useQuery(
    `channels ${pages}`,
    (signal) => readChannels(pages, signal),
    { on: ['alert_channel', 'check.created', 'check.deleted'] },
  );
  const found = data.value;
  const isEmpty = found !== null && found.entries.length === 0;
  return (
    <>
      <PageHeader
        title="Alert channels"
        actions={
          may('write') &&
          !isEmpty && (
            <Link class="button primary" to="/channels/new">
              New channel
            </Link>
          )
        }
      />
      <Sections current="/channels" />
      <MonitoringProblems filter={{ kind: ['CHANNEL_FAILING'] }} />
      {error.value !== null && <ErrorState error={error.value} retry={reload} />}
      {found === null && error.value === null && (
        <Skeleton lines={6} height={36} label="Loading channels" />
      )}
      {isEmpty && <NoChannels />}
      {found !== null && !isEmpty && (
        <section class="panel" aria-label="Channels">
          <Table<Channel>
            label="Alert channels"
            rows={found.entries}
            keyOf={({ id }) => String(id)}
            onOpen={({ id }) => route(addressOf(`/channels/${id}`))}
            columns={COLUMNS}
          />
          <Pager
            shown={found.entries.length}
            total={found.total}
            isAtLeast={found.isAtLeast}
            hasMore={found.total !== null && found.entries.length < found.total}
            isLoading={isLoading.value}
            more={() => setPages(pages + 1)}
          />
        </section>
      )}
    </>
  );
}

function NoChannels() {
  if (!may('write')) {
    return (
      <EmptyState title="Nobody is notified of alerts">
        There is no alert channel yet. A user with the role write can create one.
      </EmptyState>
    );
  }
  return (
    <>
      <EmptyState title="Nobody is notified of alerts yet">
        Choose how you want to be notified when a check fails or recovers.
      </EmptyState>
      <ChannelKinds />
    </>
  );
}

export function ChannelKinds() {
  return (
    <nav class="alerting-channel-kinds" aria-label="Kinds of channels">
      {CHANNEL_TYPES.map(({ type, label, says }) => (
        <Link key={type} to={`/channels/new?type=${type}`}>
          <strong>{label}</strong>
          <span class="muted">{says}</span>
        </Link>
      ))}
    </nav>
  );
}

async function readChannels(pages: number, signal: AbortSignal) {
  const entries: Channel[] = [];
  let total: number | null = null;
  let isAtLeast = false;
  for (let page = 1; page <= pages; page += 1) {
    const query = { limit: PER_PAGE, page };
    const read = await pageOf(api.GET('/v1/alert-channels', { params: { query }, signal }));
    ({ total, isAtLeast } = read);
    entries.push(...read.entries);
    if (read.entries.length < PER_PAGE) break;
  }
  return { entries, total, isAtLeast };
}
