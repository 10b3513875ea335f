import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, bodyOf } from '../../api/client.ts';
import { type ApiError, asApiError } from '../../api/errors.ts';
import { invalidate, useQuery } from '../../api/query.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { FormError } from '../../parts/field.tsx';
import { counted } from '../../parts/formats.ts';
import { useUnsavedGuard } from '../../parts/forms/use-unsaved-guard.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { showToast } from '../../parts/toast.tsx';
import { addressOf } from '../../shell/link.tsx';
import { useTitle } from '../../shell/title.ts';
import { useUrlState } from '../../shell/url-state.ts';
import type { PageProps } from '../page-props.ts';
import { ChannelFields, FIELD_NAMES, Wishes } from './channel-fields.tsx';
import {
  bodyOfForm,
  CHANNEL_TYPES,
  type Channel,
  type ChannelForm,
  type ChannelType,
  channelName,
  formOf,
  newForm,
} from './channel-form.ts';
import { ChannelKinds } from './channels-page.tsx';
import { Deliveries } from './deliveries.tsx';
import { Sections } from './sections.tsx';
import { SubscribedChecks } from './subscribed-checks.tsx';
import { TestNotice } from './test-notice.tsx';

interface Loaded {
  readonly channel: Channel;
  readonly etag: string | null;
}

const isOfChannels = (key: string): boolean => key.startsWith('channel');

/** A new channel at `/channels/new`, else one that exists. */
export function Page({ params: { channelId = '' } }: PageProps) {
  return channelId === '' ? <NewChannel /> : <StoredChannel id={Number(channelId)} />;
}

function NewChannel() {
  const asked = useUrlState().get('type');
  const chosen = CHANNEL_TYPES.find(({ type }) => type === asked);
  useTitle('New channel');
  if (!may('write')) return <NotAllowed />;
  return (
    <>
      <PageHeader title={chosen === undefined ? 'New channel' : `New channel: ${chosen.label}`} />
      <Sections current="/channels" />
      {chosen === undefined ? <ChannelKinds /> : <Editor key={chosen.type} type={chosen.type} />}
    </>
  );
}

function NotAllowed() {
  return (
    <>
      <PageHeader title="New channel" />
      <p>Your role in this account may not make channels.</p>
    </>
  );
}

function StoredChannel({ id }: { readonly id: number }) {
  const { data, error, reload, set } = useQuery<Loaded>(
    `channel ${id}`,
    async (signal) => {
      const { data, response } = await api.GET('/v1/alert-channels/{id}', {
        params: { path: { id } },
        signal,
      });
      return { channel: data as Channel, etag: response.headers.get('etag') };
    },
    {
      on: ['alert_channel'],
      concerns: ({ resourceId }) => resourceId === String(id),
    },
  );
  const loaded = data.value;
  useTitle(loaded === null ? null : channelName(loaded.channel));
  return (
    <>
      <PageHeader title={loaded === null ? 'Channel' : channelName(loaded.channel)} />
      <Sections current="/channels" />
      {loaded === null && error.value !== null && <ErrorState error={error.value} retry={reload} />}
      {loaded === null && error.value === null && (
        <Skeleton lines={8} label="Loading the channel" />
      )}
      {loaded !== null && (
        <>
          <Editor type={loaded.channel.type} loaded={loaded} onSaved={set} onReload={reload} />
          <Deliveries of={{ channelId: id }} />
        </>
      )}
    </>
  );
}

/** Without `loaded` it makes a new channel. */
function Editor({
  type,
  loaded,
  onSaved,
  onReload,
}: {
  readonly type: ChannelType;
  readonly loaded?: Loaded;
  readonly onSaved?: (saved: Loaded) => void;
  readonly onReload?: () => void;
}) {
  const { route } = useLocation();
  /** What the form began with: saving requires that nobody has changed it since. */
  const [base, setBase] = useState(loaded);
  const stored = (): ChannelForm => (loaded === undefined ? newForm(type) : formOf(loaded.channel));
  const [form, setForm] = useState(stored);
  const [isChanged, setChanged] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const isWriter = may('write');
  const etag = loaded?.etag ?? null;
  useEffect(() => {
    // Where somebody else saved it meanwhile, what is being edited here stays.
    if (isChanged) return;
    setBase(loaded);
    setForm(stored());
  }, [etag, isChanged]);
  useUnsavedGuard(isChanged);

  const change = (fields: Partial<ChannelForm>): void => {
    setForm((before) => ({ ...before, ...fields }));
    setChanged(true);
  };

  const save = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const saved = await store(form, base);
      invalidate(isOfChannels);
      showToast({ kind: 'pass', text: loaded === undefined ? 'The channel is made.' : 'Saved.' });
      setChanged(false);
      if (loaded === undefined) {
        // The guard must not ask on the way to the new channel.
        setTimeout(() => route(addressOf(`/channels/${saved.channel.id}`), true));
        return;
      }
      setForm(formOf(saved.channel));
      onSaved?.(saved);
    } catch (thrown) {
      const found = asApiError(thrown);
      setError(found);
      if (found.problems.length > 0) focusFirstProblem();
    } finally {
      setBusy(false);
    }
  };

  const isOutdated = error?.status === 412 || (isChanged && base?.etag !== loaded?.etag);
  const problems = (error?.problems ?? []).map(({ path, message }) => ({
    // The members of a union have the type of the channel in their path.
    path: path.replace(/^body\.(?:EMAIL|WEBHOOK|SLACK|SMS)\./, 'body.'),
    message,
  }));
  return (
    <form
      class="alerting-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <div class="alerting-form-grid">
        <div class="panel">
          <fieldset class="alerting-plain panel-body" disabled={!isWriter}>
            <legend class="visually-hidden">The channel</legend>
            <ChannelFields form={form} change={change} problems={problems} />
            <Wishes form={form} change={change} problems={problems} />
          </fieldset>
          {isWriter && (
            <div class="panel-body">
              {isOutdated ? (
                <div class="form-error" role="alert">
                  Somebody else has changed this channel meanwhile.{' '}
                  <Button
                    onClick={() => {
                      setChanged(false);
                      setError(null);
                      onReload?.();
                    }}
                  >
                    Drop my changes and show theirs
                  </Button>
                </div>
              ) : (
                <FormError error={error} fields={FIELD_NAMES} />
              )}
              <div class="alerting-form-actions">
                <Button
                  kind="primary"
                  type="submit"
                  isBusy={isBusy}
                  disabled={loaded !== undefined && !isChanged}
                >
                  {loaded === undefined ? 'Make the channel' : 'Save'}
                </Button>
                {loaded !== undefined && isChanged && (
                  <Button
                    onClick={() => {
                      setChanged(false);
                      setError(null);
                    }}
                  >
                    Undo changes
                  </Button>
                )}
                <span class="grow" />
                {loaded !== undefined && <Remove channel={loaded.channel} />}
              </div>
            </div>
          )}
          {loaded !== undefined && isWriter && (
            <TestNotice id={loaded.channel.id} isChanged={isChanged} />
          )}
        </div>
        <SubscribedChecks
          subscriptions={form.subscriptions}
          isWriter={isWriter}
          onChange={(subscriptions) => change({ subscriptions })}
        />
      </div>
    </form>
  );
}

async function store(form: ChannelForm, loaded: Loaded | undefined): Promise<Loaded> {
  const body = bodyOfForm(form) as never;
  const { data, response } =
    loaded === undefined
      ? await api.POST('/v1/alert-channels', { body })
      : await api.PATCH('/v1/alert-channels/{id}', {
          params: {
            path: { id: loaded.channel.id },
            header: loaded.etag === null ? {} : { 'If-Match': loaded.etag },
          },
          body,
        });
  return { channel: data as Channel, etag: response.headers.get('etag') };
}

function focusFirstProblem(): void {
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>('main [aria-invalid=true]')?.focus(),
  );
}

function Remove({ channel }: { readonly channel: Channel }) {
  const { route } = useLocation();
  const [isAsked, ask] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const remove = async (): Promise<void> => {
    setBusy(true);
    try {
      await bodyOf(api.DELETE('/v1/alert-channels/{id}', { params: { path: { id: channel.id } } }));
      invalidate(isOfChannels);
      showToast({ kind: 'plain', text: `${channelName(channel)} is deleted.` });
      route(addressOf('/channels'), true);
    } catch (thrown) {
      setBusy(false);
      ask(false);
      showToast({ kind: 'fail', text: asApiError(thrown).message });
    }
  };
  const checks = channel.subscriptions.length;
  return (
    <>
      <Button kind="danger" onClick={() => ask(true)}>
        Delete
      </Button>
      {isAsked && (
        <Dialog
          title={`Delete ${channelName(channel)}?`}
          onClose={() => ask(false)}
          actions={
            <>
              <Button onClick={() => ask(false)}>Keep it</Button>
              <Button kind="danger" isBusy={isBusy} onClick={() => void remove()}>
                Delete the channel
              </Button>
            </>
          }
        >
          <p>
            {checks === 0
              ? 'No check is subscribed to it.'
              : `Alerts of ${counted(checks, 'check')} no longer go there.`}{' '}
            The log of its notifications is deleted, and pending ones are not sent. This cannot be
            undone.
          </p>
        </Dialog>
      )}
    </>
  );
}
