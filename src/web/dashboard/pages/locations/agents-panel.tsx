import { useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { invalidate, type Query } from '../../api/query.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { bytes, count, counted, duration, responseTime } from '../../parts/formats.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { StateMark } from '../../parts/states/state-mark.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { showToast } from '../../parts/toast.tsx';
import { useAction } from '../../parts/use-action.ts';
import { clockText, isClockOff, isLate, isWaitingLong, Warned } from './location-mark.tsx';
import type { Agent } from './queries.ts';

/** Agents that no longer poll are shown only on request. */
const NOT_REPORTED = 'The agent does not report it: it is of an earlier release.';

/** The agents that poll, and the agents that no longer poll. */
export function AgentsPanel({
  locationId,
  agents,
}: {
  readonly locationId: string;
  readonly agents: Query<{ readonly entries: readonly Agent[]; readonly total: number }>;
}) {
  const [showsGone, setShowsGone] = useState(false);
  const data = agents.data.value;
  const error = agents.error.value;
  const all = data?.entries ?? [];
  const live = all.filter((agent) => agent.live);
  const gone = all.filter((agent) => !agent.live);
  const rows = showsGone ? all : live;
  const refused = live.flatMap((agent) =>
    agent.refused.map((one) => ({ ...one, agent: agent.id })),
  );
  if (data !== null && all.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="locations-agents">
      <div class="panel-head">
        <h2 id="locations-agents">Agents</h2>
        {gone.length > 0 && (
          <Button kind="plain" class="small" onClick={() => setShowsGone(!showsGone)}>
            {showsGone ? 'Hide those that are gone' : `Show ${count(gone.length)} that are gone`}
          </Button>
        )}
      </div>
      {error !== null && <ErrorState error={error} retry={agents.reload} />}
      {data === null && error === null && <Skeleton lines={2} height={37} />}
      {data !== null && rows.length === 0 && (
        <p class="panel-body muted">No agent polls at the moment.</p>
      )}
      {rows.length > 0 && (
        <Table label="Agents" columns={columnsOf(locationId)} rows={rows} keyOf={({ id }) => id} />
      )}
      {refused.length > 0 && (
        <details class="locations-refused">
          <summary>
            <Warned isBad>{counted(refused.length, 'check')}</Warned> cannot be run by the agent
            that has {refused.length === 1 ? 'it' : 'them'}
          </summary>
          <ul>
            {refused.map(({ checkId, problem, agent }) => (
              <li key={`${agent} ${checkId}`}>
                <code>{checkId}</code> {problem} <span class="muted">(agent {shortId(agent)})</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

/** Ids of agents are UUIDs: their beginning distinguishes them. */
export function shortId(id: string): string {
  return id.length > 13 ? id.slice(0, 8) : id;
}

function Reported({
  agent: { health },
  of,
}: {
  readonly agent: Agent;
  readonly of: (health: NonNullable<Agent['health']>) => preact.ComponentChildren;
}) {
  if (health === null) return <span title={NOT_REPORTED}>–</span>;
  return <>{of(health)}</>;
}

function columnsOf(locationId: string): readonly Column<Agent>[] {
  const columns: Column<Agent>[] = [
    {
      name: 'agent',
      head: 'Agent',
      cell: ({ id, firstSeen }) => (
        <span class="locations-name">
          <code title={id}>{shortId(id)}</code>
          <span class="muted">
            since <TimeText at={firstSeen} form="date" />
          </span>
        </span>
      ),
    },
    {
      name: 'state',
      head: 'State',
      cell: ({ live, endedAt, lastSeen }) => (
        <span class="locations-state">
          {live ? (
            <StateMark state="passing" word="Online" />
          ) : endedAt !== null ? (
            <StateMark state="paused" word="Ended" />
          ) : (
            <StateMark state="unknown" word="Gone" />
          )}
          {!live && (
            <span class="muted nowrap">
              <TimeText at={endedAt ?? lastSeen} />
            </span>
          )}
        </span>
      ),
    },
    { name: 'version', head: 'Version', cell: ({ version }) => version },
    { name: 'checks', head: 'Checks', isNumber: true, cell: ({ checks }) => count(checks) },
    {
      name: 'load',
      head: 'Running',
      isNumber: true,
      cell: ({ live, running, queued, countedConcurrency }) =>
        live ? (
          <span>
            {count(running)} <span class="muted">of {count(countedConcurrency)}</span>
            {queued > 0 && (
              <>
                {' '}
                <Warned isBad>{`${count(queued)} wait`}</Warned>
              </>
            )}
          </span>
        ) : (
          '–'
        ),
    },
    {
      name: 'lateness',
      head: 'Latest start',
      isNumber: true,
      cell: (agent) => (
        <Reported
          agent={agent}
          of={({ maxLatenessMs }) => (
            <Warned isBad={isLate(maxLatenessMs)}>{responseTime(maxLatenessMs)}</Warned>
          )}
        />
      ),
    },
    {
      name: 'missed',
      head: 'Missed',
      isNumber: true,
      cell: (agent) => (
        <Reported
          agent={agent}
          of={({ missedSlots }) => (
            <span title="Slots since the start of the agent">
              <Warned isBad={missedSlots > 0}>{count(missedSlots)}</Warned>
            </span>
          )}
        />
      ),
    },
    {
      name: 'spool',
      head: 'Waiting',
      isNumber: true,
      cell: (agent) => (
        <Reported
          agent={agent}
          of={({ spoolRecords, spoolBytes, spoolOldestMs }) => (
            <span title={`${bytes(spoolBytes)} of results, missed slots and artifacts`}>
              <Warned isBad={isWaitingLong(spoolOldestMs)}>
                {`${count(spoolRecords)}${isWaitingLong(spoolOldestMs) ? `, ${duration(spoolOldestMs ?? 0)}` : ''}`}
              </Warned>
            </span>
          )}
        />
      ),
    },
    {
      name: 'clock',
      head: 'Clock',
      isNumber: true,
      cell: ({ clockAheadMs }) => (
        <Warned isBad={isClockOff(clockAheadMs)}>{clockText(clockAheadMs)}</Warned>
      ),
    },
    {
      name: 'can',
      head: 'Can',
      isOptional: true,
      cell: ({ capabilities: { ipv6, icmp, capture } }) => (
        <span class="locations-chips">
          {icmp && <span class="chip">ICMP</span>}
          {ipv6 && <span class="chip">IPv6</span>}
          {capture && <span class="chip">capture</span>}
        </span>
      ),
    },
  ];
  if (!may('write')) return columns;
  return [
    ...columns,
    {
      name: 'actions',
      head: <span class="visually-hidden">Actions</span>,
      isNumber: true,
      cell: (agent) => <EndAgent locationId={locationId} agent={agent} />,
    },
  ];
}

function EndAgent({ locationId, agent }: { readonly locationId: string; readonly agent: Agent }) {
  const isEnded = agent.endedAt !== null;
  const params = { path: { id: locationId, agentId: agent.id } };
  const change = useAction(async (what: 'end' | 'allow') => {
    if (what === 'end') {
      await api.DELETE('/v1/private-locations/{id}/agents/{agentId}', { params });
      showToast({
        kind: 'plain',
        text: `Agent ${shortId(agent.id)} is ended: its checks move to the others, and it gets none until you allow it again.`,
        action: { label: 'Undo', run: () => change.run('allow') },
      });
    } else {
      await api.POST('/v1/private-locations/{id}/agents/{agentId}/allow', { params });
      showToast({ kind: 'plain', text: 'It may poll again, and returns within about a minute.' });
    }
    invalidate((key) => key.includes(locationId));
  });
  if (!agent.live && !isEnded) return null;
  return (
    <Button
      class="small"
      isBusy={change.isBusy}
      aria-label={`${isEnded ? 'Allow' : 'End'} agent ${shortId(agent.id)}`}
      onClick={() => change.run(isEnded ? 'allow' : 'end')}
    >
      {isEnded ? 'Allow again' : 'End'}
    </Button>
  );
}
