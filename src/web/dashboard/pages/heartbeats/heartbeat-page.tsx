import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api } from '../../api/client.ts';
import { ensureDeleted } from '../../api/ensure-deleted.ts';
import type { Query } from '../../api/query.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { duration } from '../../parts/formats.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { AcknowledgedMark, QuietMarks } from '../../parts/states/quiet-marks.tsx';
import { StateMark } from '../../parts/states/state-mark.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { showToast } from '../../parts/toast.tsx';
import { useAction } from '../../parts/use-action.ts';
import { addressOf, Link } from '../../shell/link.tsx';
import { useTitle } from '../../shell/title.ts';
import { OpenAlert } from '../alerting/alerts/open-alert.tsx';
import { WhyNoAlert } from '../alerting/alerts/recipients.tsx';
import { AvailabilityPanel } from '../check/availability.tsx';
import { useRefresh } from '../locations/use-refresh.ts';
import type { PageProps } from '../page-props.ts';
import { EventsPanel } from './events-panel.tsx';
import { EditHeartbeat } from './heartbeat-form.tsx';
import { HeartbeatMark, NextText } from './heartbeat-state.tsx';
import './heartbeats.css';
import { PingPanel } from './ping-panel.tsx';
import {
  forgetHeartbeats,
  type Heartbeat,
  type HeartbeatStatus,
  REFRESH_MS,
  useHeartbeat,
  useStatus,
} from './queries.ts';

/** One heartbeat: its state, and how its job sends pings. */
export function Page({ params: { id = '' } }: PageProps) {
  const query = useHeartbeat(id);
  const statusQuery = useStatus(id);
  useRefresh(statusQuery, REFRESH_MS);
  const loaded = query.data.value;
  const error = query.error.value;
  const status = statusQuery.data.value?.status ?? null;
  useTitle(loaded?.resource.name ?? null);
  const crumbs = (
    <p class="heartbeats-back">
      <Link to="/heartbeats">Heartbeats</Link>
    </p>
  );
  if (error?.status === 404) {
    return (
      <>
        {crumbs}
        <PageHeader title="Heartbeat" />
        <EmptyState title="There is no such heartbeat">
          It may have been deleted. <Link to="/heartbeats">See all heartbeats</Link>
        </EmptyState>
      </>
    );
  }
  if (loaded === null) {
    return (
      <>
        {crumbs}
        <PageHeader title="Heartbeat" />
        {error === null ? (
          <Skeleton lines={12} height={32} label="Loading the heartbeat" />
        ) : (
          <ErrorState error={error} retry={query.reload} />
        )}
      </>
    );
  }
  const heartbeat = loaded.resource;
  return (
    <>
      {crumbs}
      <PageHeader
        title={heartbeat.name}
        actions={may('write') && <Actions loaded={loaded} reload={query.reload} />}
      >
        <Mark heartbeat={heartbeat} status={status} />
        <QuietMarks
          muted={heartbeat.muted}
          mutedByGroup={status?.mutedByGroup ?? false}
          inMaintenance={status?.inMaintenance ?? false}
        />
        <AcknowledgedMark taken={status?.acknowledgement ?? null} />
        {heartbeat.tags.map((tag) => (
          <span class="chip" key={tag}>
            {tag}
          </span>
        ))}
      </PageHeader>
      {error !== null && <ErrorState error={error} retry={query.reload} />}
      {heartbeat.description !== null && <p class="heartbeats-about">{heartbeat.description}</p>}
      <OpenAlert checkId={id} />
      <WhyNoAlert checkId={id} />
      <Facts heartbeat={heartbeat} status={status} />
      <PingPanel heartbeat={heartbeat} />
      <AvailabilityPanel checkId={id} isHeartbeat />
      <EventsPanel checkId={id} />
    </>
  );
}

/** Without a status there was no ping. */
function Mark({
  heartbeat,
  status,
}: {
  readonly heartbeat: Heartbeat;
  readonly status: HeartbeatStatus | null;
}) {
  if (!heartbeat.activated) return <StateMark state="paused" />;
  if (status === null) return <StateMark state="unknown" word="No ping yet" />;
  return (
    <>
      <HeartbeatMark status={status} />
      {status.since !== null && (
        <span class="muted">
          for <TimeText at={status.since} form="since" />
        </span>
      )}
    </>
  );
}

const UNIT_MS = { SECONDS: 1_000, MINUTES: 60_000, HOURS: 3_600_000, DAYS: 86_400_000 } as const;

function Facts({
  heartbeat: { heartbeat },
  status,
}: {
  readonly heartbeat: Heartbeat;
  readonly status: HeartbeatStatus | null;
}) {
  const lastPingAt = status?.heartbeat?.lastPingAt ?? null;
  const { period, periodUnit, grace, graceUnit } = heartbeat;
  return (
    <section class="panel" aria-label="When it is expected">
      <dl class="heartbeats-facts panel-body">
        <div>
          <dt>Last ping</dt>
          <dd>{lastPingAt === null ? 'none' : <TimeText at={lastPingAt} />}</dd>
        </div>
        <div>
          <dt>Next</dt>
          <dd>{status === null ? 'waits for the first ping' : <NextText status={status} />}</dd>
        </div>
        <div>
          <dt>Expected every</dt>
          <dd>{duration(period * UNIT_MS[periodUnit])}</dd>
        </div>
        <div>
          <dt>Grace</dt>
          <dd>{duration(grace * UNIT_MS[graceUnit])}</dd>
        </div>
      </dl>
    </section>
  );
}

type Asked = 'edit' | 'token' | 'delete' | null;

function Actions({
  loaded,
  reload,
}: {
  readonly loaded: Loaded<Heartbeat>;
  readonly reload: Query<unknown>['reload'];
}) {
  const { id, name, activated, muted } = loaded.resource;
  const { route } = useLocation();
  const [asked, ask] = useState<Asked>(null);
  const params = { path: { id } };
  const change = useAction(
    async (body: { readonly activated: boolean } | { readonly muted: boolean }, done: string) => {
      await api.PATCH('/v1/checks/heartbeats/{id}', { params, body });
      forgetHeartbeats();
      showToast({ kind: 'plain', text: done });
    },
  );
  return (
    <>
      <Button onClick={() => ask('edit')}>Edit</Button>
      <Button
        isBusy={change.isBusy}
        onClick={() =>
          change.run(
            { activated: !activated },
            activated ? `${name} is paused.` : `${name} is watched again: a full period begins.`,
          )
        }
      >
        {activated ? 'Pause' : 'Resume'}
      </Button>
      <Button
        isBusy={change.isBusy}
        onClick={() =>
          change.run({ muted: !muted }, muted ? `${name} alerts again.` : `${name} is muted.`)
        }
      >
        {muted ? 'Unmute' : 'Mute'}
      </Button>
      <Button onClick={() => ask('token')}>Replace the URL</Button>
      <Button kind="danger" onClick={() => ask('delete')}>
        Delete
      </Button>
      {asked === 'edit' && (
        <EditHeartbeat loaded={loaded} reload={reload} onClose={() => ask(null)} />
      )}
      {asked === 'token' && (
        <Confirm
          title={`Replace the ping URL of ${name}`}
          action="Replace the URL"
          onClose={() => ask(null)}
          run={async () => {
            await api.POST('/v1/checks/heartbeats/{id}/ping-token', { params });
            forgetHeartbeats();
            showToast({ kind: 'plain', text: 'The ping URL is replaced.' });
          }}
        >
          <p>
            The current URL stops working at once. Jobs that still request it count as late. This
            cannot be undone.
          </p>
        </Confirm>
      )}
      {asked === 'delete' && (
        <Confirm
          title={`Delete ${name}`}
          action="Delete the heartbeat"
          onClose={() => ask(null)}
          run={async () => {
            await ensureDeleted(api.DELETE('/v1/checks/heartbeats/{id}', { params }));
            showToast({ kind: 'plain', text: `${name} is deleted.` });
            route(addressOf('/heartbeats'), true);
            forgetHeartbeats();
          }}
        >
          <p>
            Its ping URL stops working, and its pings, its availability and its alerts are deleted.
            To keep them, pause it instead. This cannot be undone.
          </p>
        </Confirm>
      )}
    </>
  );
}
