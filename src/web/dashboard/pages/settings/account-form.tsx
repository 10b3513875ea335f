import { useId } from 'preact/hooks';
import { api } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { type Query, useQuery } from '../../api/query.ts';
import { loadSession, may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { Field, FormError, problemOf, TextField } from '../../parts/field.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { useEdited } from '../../parts/forms/use-edited.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { showToast } from '../../parts/toast.tsx';

type Account = components['schemas']['Account'];

const FIELDS = ['name', 'timeZone'];

/** The name and the time zone of the account, which admins can change. */
export function AccountPanel({ accountId }: { readonly accountId: string }) {
  const { data, error, reload, set } = useQuery<Loaded<Account>>(`account/${accountId}`, (signal) =>
    read(accountId, signal),
  );
  return (
    <section class="panel" aria-label="Name and time zone">
      <div class="panel-head">
        <h2>Name and time zone</h2>
      </div>
      {error.value !== null && <ErrorState error={error.value} retry={reload} />}
      {data.value === null && error.value === null && (
        <Skeleton lines={4} height={37} label="Loading the account" />
      )}
      {data.value !== null && <AccountForm loaded={data.value} reload={reload} onSaved={set} />}
    </section>
  );
}

async function read(accountId: string, signal: AbortSignal): Promise<Loaded<Account>> {
  const params = { path: { accountId } };
  const reply = await api.GET('/v1/accounts/{accountId}', { params, signal });
  return { resource: reply.data as Account, etag: reply.response.headers.get('etag') };
}

const formOf = ({ name, timeZone }: Account) => ({ name, timeZone });

function AccountForm({
  loaded,
  reload,
  onSaved,
}: {
  readonly loaded: Loaded<Account>;
  readonly reload: Query<unknown>['reload'];
  readonly onSaved: (saved: Loaded<Account>) => void;
}) {
  const edited = useEdited({ loaded, formOf, reload });
  const { name, timeZone } = edited.form;
  const { error, isBusy } = edited.saving;
  const { id: accountId } = loaded.resource;
  const save = async (): Promise<void> => {
    const isSaved = await edited.save(async ({ name, timeZone }, etag) => {
      const header = etag === null ? {} : { 'If-Match': etag };
      const { data, response } = await api.PATCH('/v1/accounts/{accountId}', {
        params: { path: { accountId }, header },
        body: { name, timeZone: timeZone.trim() },
      });
      const saved = { resource: data as Account, etag: response.headers.get('etag') };
      onSaved(saved);
      return saved;
    });
    if (!isSaved) return;
    showToast({ kind: 'pass', text: 'The account is saved.' });
    // The navigation shows the name: if the read fails, the previous name until the next load.
    await loadSession(new AbortController().signal).catch(() => undefined);
  };

  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <fieldset class="panel-body settings-form" disabled={!may('admin')}>
        <legend class="visually-hidden">Name and time zone</legend>
        <TextField
          label="Name"
          value={name}
          onValue={(name) => edited.change({ name })}
          maxLength={255}
          problem={problemOf(error?.problems ?? [], 'name')}
        />
        <TimeZoneField
          value={timeZone}
          onValue={(timeZone) => edited.change({ timeZone })}
          problem={problemOf(error?.problems ?? [], 'timeZone')}
        />
        {edited.isOutdated ? (
          <Outdated kind="account" id={accountId} what="account" edited={edited} />
        ) : (
          <FormError error={error} fields={FIELDS} />
        )}
        {may('admin') ? (
          <span>
            <Button kind="primary" type="submit" isBusy={isBusy} disabled={!edited.isChanged}>
              Save
            </Button>
          </span>
        ) : (
          <p class="muted">Only admins of the account change them.</p>
        )}
      </fieldset>
    </form>
  );
}

/** The time zones of the browser. The API checks whether the service knows another name. */
function TimeZoneField({
  value,
  onValue,
  problem,
}: {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly problem: string | null;
}) {
  const listId = useId();
  return (
    <Field
      label="Time zone"
      hint="In which emails and Slack messages about alerts write times, such as Europe/Berlin. Pages show times in the zone of their reader."
      problem={problem}
    >
      {(facts) => (
        <>
          <input
            {...facts}
            type="text"
            list={listId}
            value={value}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
          <datalist id={listId}>
            {['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
