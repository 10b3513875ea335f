import { useId } from 'preact/hooks';
import { may } from '../../api/signed-in-user.ts';
import { Copyable } from '../../parts/copyable.tsx';
import type { Heartbeat } from './queries.ts';

/** With retries, because a lost ping causes a false alarm; -f makes a wrong URL an error of the job. */
const CURL = 'curl -fsS -m 10 --retry 5 -o /dev/null';

/** How a job pings: the URL, and lines to copy. */
export function PingPanel({ heartbeat: { heartbeat } }: { readonly heartbeat: Heartbeat }) {
  const id = useId();
  const { pingUrl, periodUnit } = heartbeat;
  const when = periodUnit === 'DAYS' ? '0 3 * * *' : '0 * * * *';
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>How the job pings</h2>
      </div>
      <div class="panel-body heartbeats-ping">
        {may('write') ? (
          <>
            <p>
              The job requests this URL each time it has succeeded, by GET, POST or HEAD. Whoever
              has it can report that the job ran.
            </p>
            <Line name="URL" text={pingUrl} />
            <Line name="In a script" text={`${CURL} ${pingUrl}`} />
            <Line name="In a crontab" text={`${when} /usr/local/bin/job && ${CURL} ${pingUrl}`} />
          </>
        ) : (
          <p class="muted">
            The job requests a URL each time it has succeeded. Users with the role write see it
            here: whoever has it can report that the job ran.
          </p>
        )}
      </div>
    </section>
  );
}

function Line({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div>
      <h3>{name}</h3>
      <Copyable text={text} isBlock />
    </div>
  );
}
