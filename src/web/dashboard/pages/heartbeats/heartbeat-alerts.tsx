import type { FieldProblem } from '../../api/errors.ts';
import { ChoicesError } from '../../parts/error-state.tsx';
import { CheckField, problemOf, SelectField } from '../../parts/field.tsx';
import { counted } from '../../parts/formats.ts';
import { useGroups } from '../../parts/lists/use-groups.ts';
import { Link } from '../../shell/link.tsx';
import { useChannelChoices } from '../alerting/channels/channel-choices.ts';
import {
  channelLabel,
  notifiedChannels,
  subscriptionsFor,
} from '../alerting/channels/channel-form.ts';
import { Choices } from '../editing/choices.tsx';
import '../editing/editing.css';
import { AlertSettingsFields } from '../settings/alert-settings-fields.tsx';
import type { HeartbeatForm } from './heartbeat-fields.ts';

/** The group, the channels and the alert settings of a heartbeat. */
export function HeartbeatAlerts({
  form,
  problems,
  change,
}: {
  readonly form: HeartbeatForm;
  readonly problems: readonly FieldProblem[];
  readonly change: (fields: Partial<HeartbeatForm>) => void;
}) {
  const { groupId, channels } = form;
  const query = useGroups();
  const found = query.data.value;
  const known = (found?.groups ?? []).map(({ id, name }) => ({
    value: String(id),
    label: name,
  }));
  const isKnown = groupId === '' || known.some(({ value }) => value === groupId);
  return (
    <>
      <SelectField
        label="Group"
        hint={['Its settings take precedence over those of the heartbeat.', found?.limitNote]
          .filter(Boolean)
          .join(' ')}
        value={groupId}
        options={[
          { value: '', label: 'none' },
          ...(isKnown ? [] : [{ value: groupId, label: `group ${groupId}` }]),
          ...known,
        ]}
        problem={problemOf(problems, 'groupId')}
        onValue={(value) => change({ groupId: value })}
      />
      <ChoicesError what="groups" error={query.error.value} retry={query.reload} />
      <CheckField
        label="Muted"
        hint="It sends no alerts."
        isChecked={form.muted}
        onValue={(muted) => change({ muted })}
      />
      {channels === null ? (
        <CheckField
          label="Notify all existing channels"
          isChecked
          onValue={() => change({ channels: [] })}
        />
      ) : (
        <Channels channels={channels} problems={problems} change={change} />
      )}
      <CheckField
        label="Alert settings of the account"
        isChecked={form.useGlobalAlertSettings}
        onValue={(useGlobalAlertSettings) => change({ useGlobalAlertSettings })}
      />
      {!form.useGlobalAlertSettings && (
        <AlertSettingsFields
          settings={form.alertSettings}
          problems={problems}
          path="alertSettings."
          hasLocations={false}
          change={(fields) => change({ alertSettings: { ...form.alertSettings, ...fields } })}
        />
      )}
    </>
  );
}

function Channels({
  channels,
  problems,
  change,
}: {
  readonly channels: NonNullable<HeartbeatForm['channels']>;
  readonly problems: readonly FieldProblem[];
  readonly change: (fields: Partial<HeartbeatForm>) => void;
}) {
  const query = useChannelChoices();
  const found = query.data.value;
  const error = query.error.value;
  if (found === null && error !== null) {
    return <ChoicesError what="channels" error={error} retry={query.reload} />;
  }
  const more = (found?.total ?? 0) - (found?.entries.length ?? 0);
  return (
    <Choices
      field="alertChannelSubscriptions"
      legend="Channels that are notified"
      choices={(found?.entries ?? []).map((channel) => ({
        value: String(channel.id),
        label: channelLabel(channel),
      }))}
      chosen={notifiedChannels(channels, found?.entries ?? [])}
      problem={problemOf(problems, 'alertChannelSubscriptions')}
      onChange={(ids) =>
        change({ channels: subscriptionsFor(ids, channels, found?.entries ?? []) })
      }
      empty={
        found === null ? (
          'Loading the channels…'
        ) : (
          <>
            There are no channels yet. <Link to="/channels">Create one</Link>, and it is notified of
            failures.
          </>
        )
      }
      note={more > 0 ? `${counted(more, 'more channel')}: choose them on their own pages.` : null}
    />
  );
}
