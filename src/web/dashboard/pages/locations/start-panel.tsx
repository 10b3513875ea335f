import { useId, useState } from 'preact/hooks';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import { useAction } from '../../parts/use-action.ts';
import { basePath } from '../../shell/base-path.ts';
import { useUrlState } from '../../shell/url-state.ts';
import { Arrival } from './arrival.tsx';
import { createKey, type NewKey } from './keys-panel.tsx';
import type { Agent } from './queries.ts';
import { isLoopback, START_TEXTS, STARTS, startLines } from './start-lines.ts';

const NO_KEY = 'pl_…';

/** How to start an agent, with address and key filled in, and whether it has arrived. */
export function StartPanel({
  locationId,
  agents,
  newKey,
  onNewKey,
  isFirst,
}: {
  readonly locationId: string;
  /** null until they are known. */
  readonly agents: readonly Agent[] | null;
  readonly newKey: NewKey | null;
  readonly onNewKey: (made: NewKey | null) => void;
  /** Whether no agent has ever polled: then the panel is the main part of the page. */
  readonly isFirst: boolean;
}) {
  const state = useUrlState();
  const named = state.get('start');
  const [wasOpened, setOpened] = useState(false);
  const isOpen = isFirst || newKey !== null || named !== null || wasOpened;
  const chosen = STARTS.find((start) => start === named) ?? 'docker';
  const create = useAction(async () => onNewKey(await createKey(locationId)));
  const id = useId();
  const serviceUrl = `${location.origin}${basePath}`;
  const { needs, isElsewhere } = START_TEXTS[chosen];
  if (!isOpen) {
    return (
      <div class="panel locations-start-closed">
        <Arrival agents={agents} since={null} />
        <Button class="small" onClick={() => setOpened(true)}>
          Start another agent
        </Button>
      </div>
    );
  }
  return (
    <section class="panel" aria-labelledby={`${id}-title`} id="locations-start">
      <div class="panel-head">
        <h2 id={`${id}-title`}>{isFirst ? 'Start its first agent' : 'Start an agent'}</h2>
        <div class="locations-tabs" role="tablist" aria-label="Where it runs">
          {STARTS.map((start) => (
            <button
              type="button"
              role="tab"
              key={start}
              id={`${id}-${start}`}
              aria-selected={start === chosen}
              aria-controls={`${id}-panel`}
              tabIndex={start === chosen ? 0 : -1}
              onClick={() => state.set({ start })}
              onKeyDown={(event) => {
                const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
                if (step === undefined) return;
                event.preventDefault();
                const at = (STARTS.indexOf(start) + step + STARTS.length) % STARTS.length;
                const next = STARTS[at] ?? start;
                state.set({ start: next });
                document.getElementById(`${id}-${next}`)?.focus();
              }}
            >
              {START_TEXTS[start].label}
            </button>
          ))}
        </div>
      </div>
      <div
        class="panel-body locations-start"
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${chosen}`}
      >
        {newKey === null ? (
          <p class="locations-key">
            {may('admin') ? (
              <>
                <Button kind="primary" isBusy={create.isBusy} onClick={() => create.run()}>
                  Create a key
                </Button>
                <span class="muted">It is filled in below, and shown only once.</span>
              </>
            ) : (
              <span class="muted">
                Put the key of the location there instead of {NO_KEY}. Somebody with the role admin
                can create one.
              </span>
            )}
          </p>
        ) : (
          <p class="locations-key">
            <Copyable text={newKey.key} label="Copy the key" />
            <span class="muted">Keep it now: it is not shown again.</span>
          </p>
        )}
        {isElsewhere && isLoopback(serviceUrl) && (
          <p class="locations-warning">
            Only this machine reaches {serviceUrl}. Open the dashboard at an address that the agent
            reaches, or start it on this machine with Node.
          </p>
        )}
        <Copyable
          text={startLines(chosen, { serviceUrl, key: newKey?.key ?? NO_KEY })}
          label="Copy"
          isBlock
        />
        <p class="muted">{needs}</p>
        <Arrival agents={agents} since={newKey?.createdAt ?? null} />
      </div>
    </section>
  );
}
