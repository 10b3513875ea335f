import { useMemo, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api } from '../../../api/client.ts';
import { ensureDeleted } from '../../../api/ensure-deleted.ts';
import { invalidate, type Query, useQuery } from '../../../api/query.ts';
import { may } from '../../../api/signed-in-user.ts';
import { Button } from '../../../parts/button.tsx';
import { Confirm } from '../../../parts/dialogs/confirm.tsx';
import { ErrorState } from '../../../parts/error-state.tsx';
import { FormError } from '../../../parts/field.tsx';
import { counted } from '../../../parts/formats.ts';
import { Outdated } from '../../../parts/forms/outdated.tsx';
import { useEdited } from '../../../parts/forms/use-edited.ts';
import type { Loaded } from '../../../parts/forms/use-saving.ts';
import { PageHeader } from '../../../parts/page-header.tsx';
import { MonitoringProblems } from '../../../parts/problems/monitoring-problems.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import { showToast } from '../../../parts/toast.tsx';
import { addressOf } from '../../../shell/link.tsx';
import { useTitle } from '../../../shell/title.ts';
import { useUrlState } from '../../../shell/url-state.ts';
import type { PageProps } from '../../page-props.ts';
import { Deliveries } from '../alerts/deliveries.tsx';
import { Sections } from '../sections.tsx';
import { Bundling } from './bundling-fields.tsx';
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
  servedWords,
} from './channel-form.ts';
import { ChannelKinds } from './channels-page.tsx';
import { MessageTexts } from './message-texts.tsx';
import { SubscribedChecks } from './subscribed-checks.tsx';
import { TestNotice } from './test-notice.tsx';

const isOfChannels = (key: string): boolean => key.startsWith('channel');

/** A new channel at `/channels/new`, otherwise an existing one. */
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
  const { data, error, reload, set } = useQuery<Loaded<Channel>>(
    `channel ${id}`,
    async (signal) => {
      const { data, response } = await api.GET('/v1/alert-channels/{id}', {
        params: { path: { id } },
        signal,
      });
      return { resource: data as Channel, etag: response.headers.get('etag') };
    },
    {
      on: ['alert_channel'],
      concerns: ({ resourceId }) => resourceId === String(id),
    },
  );
  const loaded = data.value;
  useTitle(loaded === null ? null : channelName(loaded.resource));
  return (
    <>
      <PageHeader title={loaded === null ? 'Channel' : channelName(loaded.resource)} />
      <Sections current="/channels" />
      {loaded === null && error.value !== null && <ErrorState error={error.value} retry={reload} />}
      {loaded === null && error.value === null && (
        <Skeleton lines={8} label="Loading the channel" />
      )}
      {loaded !== null && (
        <>
          <MonitoringProblems filter={{ channelId: id }} />
          <Editor type={loaded.resource.type} loaded={loaded} onSaved={set} onReload={reload} />
          <Deliveries of={{ channelId: id }} />
        </>
      )}
    </>
  );
}

/** Creates a new channel without `loaded`. */
function Editor({
  type,
  loaded,
  onSaved,
  onReload,
}: {
  readonly type: ChannelType;
  readonly loaded?: Loaded<Channel>;
  readonly onSaved?: (saved: Loaded<Channel>) => void;
  readonly onReload?: Query<unknown>['reload'];
}) {
  const { route } = useLocation();
  const initial = useMemo(() => newForm(type), [type]);
  const edited = useEdited({
    loaded: loaded ?? null,
    formOf,
    initial,
    ...(onReload === undefined ? {} : { reload: onReload }),
  });
  const { form, isChanged, change } = edited;
  const { error, isBusy } = edited.saving;
  const isWriter = may('write');

  const save = async (): Promise<void> => {
    let id = loaded?.resource.id ?? null;
    let served = 0;
    const isSaved = await edited.save(async (sent, etag) => {
      const saved = await store(sent, id, etag);
      onSaved?.(saved);
      id = saved.resource.id;
      served = saved.resource.servedChecks?.total ?? 0;
      return saved;
    });
    if (!isSaved) return;
    invalidate(isOfChannels);
    const what = loaded === undefined ? 'made' : 'saved';
    const text = `The channel is ${what}. It serves ${counted(served, 'check')}.`;
    showToast({ kind: 'pass', text });
    // The guard must not ask before the new channel is shown.
    if (loaded === undefined) setTimeout(() => route(addressOf(`/channels/${id}`), true));
  };

  const problems = (error?.problems ?? []).map(({ path, message }) => ({
    // The members of a union have the type of the channel in their path.
    path: path.replace(/^body\.[A-Z_]+\./, 'body.'),
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
            <Bundling form={form} change={change} problems={problems} />
            <MessageTexts form={form} change={change} problems={problems} />
          </fieldset>
          {isWriter && (
            <div class="panel-body">
              {edited.isOutdated && loaded !== undefined ? (
                <Outdated
                  kind="alert-channel"
                  id={String(loaded.resource.id)}
                  what="channel"
                  edited={edited}
                />
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
                  {loaded === undefined ? 'Create the channel' : 'Save'}
                </Button>
                {loaded !== undefined && isChanged && (
                  <Button onClick={edited.undo}>Undo changes</Button>
                )}
                <span class="grow" />
                {loaded !== undefined && <Remove channel={loaded.resource} />}
              </div>
            </div>
          )}
          {loaded !== undefined && isWriter && (
            <TestNotice id={loaded.resource.id} isChanged={isChanged} />
          )}
        </div>
        <SubscribedChecks
          subscriptions={form.subscriptions}
          subscribeAll={form.subscribeAll}
          isWriter={isWriter}
          onChange={change}
        />
      </div>
    </form>
  );
}

/** Changes a channel, or creates one if `id` is null. */
async function store(
  form: ChannelForm,
  id: number | null,
  etag: string | null,
): Promise<Loaded<Channel>> {
  const body = bodyOfForm(form) as never;
  const { data, response } =
    id === null
      ? await api.POST('/v1/alert-channels', { body })
      : await api.PATCH('/v1/alert-channels/{id}', {
          params: { path: { id }, header: etag === null ? {} : { 'If-Match': etag } },
          body,
        });
  return { resource: data as Channel, etag: response.headers.get('etag') };
}

function Remove({ channel }: { readonly channel: Channel }) {
  const { route } = useLocation();
  const [isAsked, ask] = useState(false);
  const remove = async (): Promise<void> => {
    const params = { path: { id: channel.id } };
    await ensureDeleted(api.DELETE('/v1/alert-channels/{id}', { params }));
    showToast({ kind: 'plain', text: `${channelName(channel)} is deleted.` });
    route(addressOf('/channels'), true);
    invalidate(isOfChannels);
  };
  const served = servedWords(channel);
  return (
    <>
      <Button kind="danger" onClick={() => ask(true)}>
        Delete
      </Button>
      {isAsked && (
        <Confirm
          title={`Delete ${channelName(channel)}`}
          action="Delete the channel"
          run={remove}
          onClose={() => ask(false)}
        >
          <p>
            {served === null
              ? 'It is notified of no check.'
              : `Alerts of ${served} no longer go there.`}{' '}
            The log of its notifications is deleted, and pending ones are not sent. This cannot be
            undone.
          </p>
        </Confirm>
      )}
    </>
  );
}
