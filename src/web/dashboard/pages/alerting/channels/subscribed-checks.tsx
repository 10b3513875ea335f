import { useState } from 'preact/hooks';
import { api, pageOf } from '../../../api/client.ts';
import { useQuery } from '../../../api/query.ts';
import { Button } from '../../../parts/button.tsx';
import { ErrorState } from '../../../parts/error-state.tsx';
import { CheckField } from '../../../parts/field.tsx';
import { count, totalText } from '../../../parts/formats.ts';
import { Skeleton } from '../../../parts/skeleton.tsx';
import { useAction } from '../../../parts/use-action.ts';
import { servedBy } from './channel-form.ts';

type Subscriptions = ReadonlyMap<string, boolean>;

/** The most checks in the list; the search finds the others. */
const SHOWN = 50;
const PER_PAGE = 100;
/** The most checks that a channel can have. */
const MAX_SUBSCRIPTIONS = 10_000;

/** The checks of the channel: the chosen ones, or all except those that are not chosen. */
export function SubscribedChecks({
  subscriptions,
  subscribeAll,
  isWriter,
  onChange,
}: {
  readonly subscriptions: Subscriptions;
  readonly subscribeAll: boolean;
  readonly isWriter: boolean;
  readonly onChange: (fields: {
    readonly subscriptions?: Subscriptions;
    readonly subscribeAll?: boolean;
  }) => void;
}) {
  const [search, setSearch] = useState('');
  const { data, error, reload } = useQuery(
    `checks to subscribe ${search}`,
    (signal) => readChecks(search, 1, SHOWN, signal),
    { on: ['check.created', 'check.updated', 'check.deleted'] },
  );
  const found = data.value;
  const served = servedBy(subscribeAll, [...subscriptions.values()]) ?? 'none';

  const toggle = (id: string, isOn: boolean): void => {
    const next = new Map(subscriptions);
    // A subscription that changes nothing is omitted.
    if (isOn === subscribeAll) next.delete(id);
    else next.set(id, isOn);
    onChange({ subscriptions: next });
  };
  const addAll = useAction(async () => {
    const next = new Map(subscriptions);
    for (let page = 1; next.size < MAX_SUBSCRIPTIONS; page += 1) {
      const { entries } = await readChecks(search, page, PER_PAGE);
      for (const { checkId } of entries) next.set(checkId, true);
      if (entries.length < PER_PAGE) break;
    }
    onChange({ subscriptions: next });
  });

  return (
    <section class="panel" aria-labelledby="checks-title">
      <header class="panel-head">
        <h2 id="checks-title">Checks that it serves</h2>
        <span class="muted" role="status">
          {served}
        </span>
      </header>
      <div class="panel-body">
        <fieldset class="alerting-plain" disabled={!isWriter}>
          <legend class="visually-hidden">All checks</legend>
          <CheckField
            label="All current and future checks"
            hint="Except those that you do not choose below."
            isChecked={subscribeAll}
            onValue={(isOn) => onChange({ subscribeAll: isOn })}
          />
        </fieldset>
        <input
          type="search"
          aria-label="Search checks"
          placeholder="Search checks"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
      </div>
      {error.value !== null && <ErrorState error={error.value} retry={reload} />}
      {found === null && error.value === null && (
        <div class="panel-body">
          <Skeleton lines={6} height={32} label="Loading checks" />
        </div>
      )}
      {found !== null && found.entries.length === 0 && (
        <p class="panel-body muted">
          {search === '' ? 'There are no checks yet.' : 'No check has this text in its name.'}
        </p>
      )}
      {found !== null && found.entries.length > 0 && (
        <ul class="alerting-choices">
          {found.entries.map(({ checkId, name }) => (
            <li key={checkId}>
              <label>
                <input
                  type="checkbox"
                  checked={subscriptions.get(checkId) ?? subscribeAll}
                  disabled={!isWriter}
                  onChange={(event) => toggle(checkId, event.currentTarget.checked)}
                />
                <span>{name}</span>
              </label>
            </li>
          ))}
        </ul>
      )}
      {found !== null && found.total !== null && found.total > found.entries.length && (
        <p class="alerting-panel-foot muted">
          {count(found.entries.length)} of {totalText(found.total, found.isAtLeast)} shown: search
          for the others.
        </p>
      )}
      {isWriter && found !== null && found.entries.length > 0 && (
        <div class="panel-body alerting-form-actions">
          {!subscribeAll && (
            <Button class="small" isBusy={addAll.isBusy} onClick={() => addAll.run()}>
              {search === '' ? 'Choose all checks' : 'Choose all that match'}
            </Button>
          )}
          {subscriptions.size > 0 && (
            <Button class="small" onClick={() => onChange({ subscriptions: new Map() })}>
              {subscribeAll ? 'No exceptions' : 'Choose none'}
            </Button>
          )}
        </div>
      )}
    </section>
  );
}

function readChecks(search: string, page: number, limit: number, signal?: AbortSignal) {
  const text = search.trim();
  return pageOf(
    api.GET('/v1/check-statuses', {
      params: {
        query: { sort: 'name', limit, page, ...(text === '' ? {} : { search: text }) },
      },
      ...(signal === undefined ? {} : { signal }),
    }),
  );
}
