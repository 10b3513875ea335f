import { useEffect, useId, useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { type ApiError, asApiError } from '../../api/errors.ts';
import type { components } from '../../api/openapi.d.ts';
import { useQuery } from '../../api/query.ts';
import { loadSession, may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { Field, FormError, problemOf, TextField } from '../../parts/field.tsx';
import { useUnsavedGuard } from '../../parts/forms/use-unsaved-guard.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { showToast } from '../../parts/toast.tsx';

type Account = components['schemas']['Account'];

interface Loaded {
  readonly account: Account;
  readonly etag: string | null;
}

const FIELDS = ['name', 'timeZone'];

/** The name and the time zone of the account: admins change them. */
export function AccountPanel({ accountId }: { readonly accountId: string }) {
  const { data, error, reload, set } = useQuery<Loaded>(`account/${accountId}`, (signal) =>
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
      {data.value !== null && <AccountForm loaded={data.value} onLoaded={set} />}
    </section>
  );
}

async function read(accountId: string, signal: AbortSignal): Promise<Loaded> {
  const params = { path: { accountId } };
  const reply = await api.GET('/v1/accounts/{accountId}', { params, signal });
  return { account: reply.data as Account, etag: reply.response.headers.get('etag') };
}

function AccountForm({
  loaded,
  onLoaded,
}: {
  readonly loaded: Loaded;
  readonly onLoaded: (loaded: Loaded) => void;
}) {
  /** What the form began with: saving requires that nobody has changed it since. */
  const [base, setBase] = useState(loaded);
  const [name, setName] = useState(loaded.account.name);
  const [timeZone, setTimeZone] = useState(loaded.account.timeZone);
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isChanged = name !== base.account.name || timeZone !== base.account.timeZone;
  useUnsavedGuard(isChanged);

  const begin = (from: Loaded): void => {
    setBase(from);
    setName(from.account.name);
    setTimeZone(from.account.timeZone);
    setError(null);
  };
  useEffect(() => {
    // What is being edited here stays, although it was read again meanwhile.
    if (!isChanged) begin(loaded);
  }, [loaded.etag]);

  const { id: accountId } = base.account;
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    try {
      await work();
    } catch (thrown) {
      setError(asApiError(thrown));
      focusFirstProblem();
    }
    setBusy(false);
  };
  const save = () =>
    attempt(async () => {
      const header = base.etag === null ? {} : { 'If-Match': base.etag };
      const { data, response } = await api.PATCH('/v1/accounts/{accountId}', {
        params: { path: { accountId }, header },
        body: { name, timeZone: timeZone.trim() },
      });
      const saved = { account: data as Account, etag: response.headers.get('etag') };
      begin(saved);
      onLoaded(saved);
      showToast({ kind: 'pass', text: 'The account is saved.' });
      // The navigation shows the name, without a response the former one until the next load.
      await loadSession(new AbortController().signal).catch(() => undefined);
    });
  const showTheirs = () =>
    attempt(async () => {
      const theirs = await read(accountId, new AbortController().signal);
      begin(theirs);
      onLoaded(theirs);
    });

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
          onValue={setName}
          maxLength={255}
          problem={problemOf(error?.problems ?? [], 'name')}
        />
        <TimeZoneField
          value={timeZone}
          onValue={setTimeZone}
          problem={problemOf(error?.problems ?? [], 'timeZone')}
        />
        {error?.status === 412 ? (
          <div class="form-error" role="alert">
            Somebody else has changed the account meanwhile.{' '}
            <Button onClick={() => void showTheirs()}>Drop my changes and show theirs</Button>
          </div>
        ) : (
          <FormError error={error} fields={FIELDS} />
        )}
        {may('admin') ? (
          <span>
            <Button kind="primary" type="submit" isBusy={isBusy} disabled={!isChanged}>
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

/** The browser's own names; the API says whether the service knows another one. */
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
      hint="In which mails and Slack messages about alerts write times, such as Europe/Berlin. Pages show times in the zone of their reader."
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

function focusFirstProblem(): void {
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>('main [aria-invalid=true]')?.focus(),
  );
}
