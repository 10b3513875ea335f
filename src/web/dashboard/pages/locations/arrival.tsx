import { StateMark } from '../../parts/states/state-mark.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { shortId } from './agents-panel.tsx';
import type { Agent } from './queries.ts';

/** A line that turns green when an agent polls; with `since`, only for an agent that appeared after it. */
export function Arrival({
  agents,
  since,
}: {
  readonly agents: readonly Agent[] | null;
  /** ISO 8601; null: any agent counts. */
  readonly since: string | null;
}) {
  if (agents === null) return <p class="locations-arrival">&nbsp;</p>;
  const live = agents
    .filter((agent) => agent.live)
    .toSorted((one, other) => other.firstSeen.localeCompare(one.firstSeen));
  const arrived = live.find(({ firstSeen }) => since === null || firstSeen >= since);
  return (
    <p class={`locations-arrival ${arrived === undefined ? 'waiting' : 'arrived'}`} role="status">
      {arrived !== undefined ? (
        <>
          <StateMark state="passing" word={since === null ? 'Online' : 'Arrived'} />
          <span>
            Agent <code title={arrived.id}>{shortId(arrived.id)}</code>, version {arrived.version},
            polls since <TimeText at={arrived.firstSeen} form={since === null ? 'full' : 'ago'} />
          </span>
        </>
      ) : (
        <>
          <i aria-hidden="true" />
          <span>
            {live.length > 0
              ? 'Waiting for an agent that starts with the new key…'
              : 'Waiting for an agent…'}
          </span>
        </>
      )}
    </p>
  );
}
