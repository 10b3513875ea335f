import type { ComponentChildren } from 'preact';
import { count, duration, responseTime } from '../../parts/formats.ts';
import { TimeText } from '../../parts/time-text.tsx';
import { Link } from '../../shell/link.tsx';
import { clockText, isClockOff, isLate, isWaitingLong, Warned } from './location-mark.tsx';
import type { LocationStatus, PrivateLocation } from './queries.ts';

/** The figures of a location in one strip, and a sentence if there is a problem. */
export function LocationFacts({
  status,
  location,
}: {
  readonly status: LocationStatus;
  readonly location: PrivateLocation;
}) {
  const { agents, checks, unassignedChecks, missedSlots, maxLatenessMs } = status;
  const { spoolRecords, spoolOldestMs, clockAheadMs, lastSeen, versions } = status;
  return (
    <>
      {status.state === 'silent' && lastSeen !== null && (
        <div class="locations-notice fail" role="status">
          <strong>No agent polls any more.</strong> The last one polled{' '}
          <TimeText at={status.silentSince ?? lastSeen} />, and{' '}
          {checks === 1 ? 'its check does' : `its ${count(checks)} checks do`} not run. Look at the
          log of the agents, their network and their key, or start another one below.
        </div>
      )}
      <dl class="locations-facts panel">
        <Fact name="Agents">
          {count(agents.live)}
          <small>
            {agents.live === 0
              ? lastSeen === null
                ? 'none has polled yet'
                : 'none polls'
              : `version ${versions.join(', ')}`}
          </small>
        </Fact>
        <Fact name="Checks">
          <Link to={`/?location=${encodeURIComponent(location.slug)}`}>{count(checks)}</Link>
          <small>
            {checks === 0 ? (
              'none runs here'
            ) : unassignedChecks === 0 ? (
              'all with an agent'
            ) : (
              <Warned isBad>{`${count(unassignedChecks)} not running`}</Warned>
            )}
          </small>
        </Fact>
        <Fact name="Missed slots">
          <Warned isBad={missedSlots > 0}>{count(missedSlots)}</Warned>
          <small>in the last 24 hours</small>
        </Fact>
        <Fact name="Latest start">
          <Warned isBad={isLate(maxLatenessMs)}>{responseTime(maxLatenessMs)}</Warned>
          <small>after its slot, in the last 5 minutes</small>
        </Fact>
        <Fact name="Waiting results">
          {spoolRecords === null ? (
            '–'
          ) : (
            <Warned isBad={isWaitingLong(spoolOldestMs)}>{count(spoolRecords)}</Warned>
          )}
          <small>
            {spoolOldestMs === null ? 'at the agents' : `the oldest for ${duration(spoolOldestMs)}`}
          </small>
        </Fact>
        <Fact name="Clock">
          <Warned isBad={isClockOff(clockAheadMs)}>{clockText(clockAheadMs)}</Warned>
          <small>compared with the service</small>
        </Fact>
        {location.proxyUrl !== null && (
          <Fact name="Proxy">
            <span class="mono locations-proxy">{location.proxyUrl}</span>
            <small>of URL, API and DOH checks</small>
          </Fact>
        )}
      </dl>
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
