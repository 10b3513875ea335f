import { api, bodyOf } from '../../api/client.ts';
import { useQuery } from '../../api/query.ts';
import { ChoicesError, ErrorState } from '../../parts/error-state.tsx';
import { CheckField, Field, SelectField } from '../../parts/field.tsx';
import { counted } from '../../parts/formats.ts';
import { tagsIn, tagsText } from '../../parts/forms/tags.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Link } from '../../shell/link.tsx';
import { useChannelChoices } from '../alerting/channels/channel-choices.ts';
import {
  channelLabel,
  notifiedChannels,
  subscriptionsFor,
} from '../alerting/channels/channel-form.ts';
import { useCheckForm } from './check-form.ts';
import { Choices } from './choices.tsx';
import { listAt, valueAt } from './draft.ts';
import { Code, FactField, useTyped } from './fact-field.tsx';
import { factsAt } from './facts.ts';
import { labelOf, wordsOf } from './form-fields.ts';
import { Section } from './section.tsx';

const SHOWN = 100;
const NO_LIMIT = 100_000;

/** Who is notified of the check, and when. */
export function AlertFields({
  notifiesAll,
  onNotifiesAll,
}: {
  /** A new check may be subscribed to all channels there are; null for a stored one. */
  readonly notifiesAll: boolean | null;
  readonly onNotifiesAll: (notifiesAll: boolean) => void;
}) {
  const { draft } = useCheckForm();
  const isGlobal = (valueAt(draft, 'useGlobalAlertSettings') ?? true) === true;
  const settings = (name: string): string => `alertSettings.${name}`;
  const escalation = valueAt(draft, settings('escalationType')) ?? 'RUN_BASED';
  return (
    <Section title="Alerts">
      <div class="editing-wide">
        {notifiesAll !== null && (
          <CheckField
            label="Notify all existing channels"
            isChecked={notifiesAll}
            onValue={onNotifiesAll}
          />
        )}
        {notifiesAll !== true && <Channels />}
      </div>
      <FactField path="muted" hint="none" />
      <DependsOn />
      <FactField path="useGlobalAlertSettings" hint="none" />
      {!isGlobal && (
        <>
          <FactField path={settings('escalationType')} hint="none" />
          {escalation === 'TIME_BASED' ? (
            <FactField
              path={settings('timeBasedEscalation.minutesFailingThreshold')}
              wordOf={(value) => `${value} min`}
            />
          ) : (
            <FactField path={settings('runBasedEscalation.failedRunThreshold')} />
          )}
          <FactField
            path={settings('reminders.amount')}
            hint="They repeat an alert until the check recovers."
            wordOf={(value) =>
              value === 0 ? 'none' : value === NO_LIMIT ? 'until it recovers' : wordsOf(value)
            }
          />
          <FactField
            path={settings('reminders.interval')}
            hint="none"
            wordOf={(value) => `${value} min`}
          />
          <FactField
            path={settings('parallelRunFailureThreshold.enabled')}
            hint={factsAt('URL', settings('parallelRunFailureThreshold'))?.text}
          />
          {valueAt(draft, settings('parallelRunFailureThreshold.enabled')) === true && (
            <FactField path={settings('parallelRunFailureThreshold.percentage')} />
          )}
        </>
      )}
      <Incident />
    </Section>
  );
}

function Channels() {
  const { draft, change, problemAt } = useCheckForm();
  const query = useChannelChoices();
  const found = query.data.value;
  const error = query.error.value;
  if (found === null) {
    return error === null ? (
      <Skeleton lines={3} label="Loading channels" />
    ) : (
      <ErrorState error={error} retry={query.reload} />
    );
  }
  const given = listAt(draft, 'alertChannelSubscriptions').map((one) => ({
    alertChannelId: Number(valueAt(one, 'alertChannelId')),
    activated: valueAt(one, 'activated') !== false,
  }));
  const more = (found.total ?? 0) - found.entries.length;
  return (
    <Choices
      field="alertChannelSubscriptions[].alertChannelId"
      legend={labelOf('alertChannelSubscriptions[].alertChannelId')}
      choices={found.entries.map((channel) => ({
        value: String(channel.id),
        label: channelLabel(channel),
      }))}
      chosen={notifiedChannels(given, found.entries)}
      problem={problemAt('alertChannelSubscriptions')}
      onChange={(ids) =>
        change('alertChannelSubscriptions', subscriptionsFor(ids, given, found.entries))
      }
      empty={
        <>
          There are no channels yet. <Link to="/channels">Create one</Link>, and it is notified of
          failures.
        </>
      }
      note={more > 0 ? `${counted(more, 'more channel')}: choose them on their own pages.` : null}
    />
  );
}

/** The incident that a failure opens on a status page. */
function Incident() {
  const { type, draft, change, problemAt } = useCheckForm();
  const incident = valueAt(draft, 'triggerIncident') ?? null;
  const query = useQuery(
    'services to choose',
    (signal) =>
      bodyOf(api.GET('/v1/status-pages/services', { params: { query: { limit: SHOWN } }, signal })),
    { on: ['status_page'] },
  );
  const serviceId = String(valueAt(incident, 'serviceId') ?? '');
  const known = (query.data.value ?? []).map(({ id, name }) => ({
    value: String(id),
    label: name,
  }));
  const isKnown = known.some(({ value }) => value === serviceId);
  return (
    <>
      <div class="editing-wide">
        <CheckField
          label="Open an incident on a status page"
          hint={<Code text={factsAt(type, 'triggerIncident')?.text ?? ''} />}
          isChecked={incident !== null}
          onValue={(isOn) =>
            change(
              'triggerIncident',
              isOn ? { serviceId: known[0]?.value ?? '', severity: 'MAJOR', name: '' } : null,
            )
          }
        />
      </div>
      {incident !== null && (
        <>
          <div data-field="triggerIncident.serviceId">
            <SelectField
              label={labelOf('triggerIncident.serviceId')}
              value={serviceId}
              options={[
                ...(isKnown
                  ? []
                  : [{ value: serviceId, label: serviceId === '' ? 'none' : serviceId }]),
                ...known,
              ]}
              problem={problemAt('triggerIncident.serviceId')}
              onValue={(id) => change('triggerIncident.serviceId', id)}
            />
            <ChoicesError what="services" error={query.error.value} retry={query.reload} />
          </div>
          <FactField path="triggerIncident.severity" />
          <div class="editing-wide">
            <FactField path="triggerIncident.name" />
            <FactField path="triggerIncident.description" rows={2} />
          </div>
          <FactField path="triggerIncident.notifySubscribers" />
        </>
      )}
    </>
  );
}

/** The ids of other checks in one control, with commas in between. */
function DependsOn() {
  const { type, draft, change, problems, problemAt } = useCheckForm();
  const ids = listAt(draft, 'dependsOn').map(String);
  const [text, setText] = useTyped(tagsText(ids), (typed) => tagsText(tagsIn(typed)));
  const ofOne = problems.find(({ path }) => /^body\.dependsOn\[/.test(path))?.message ?? null;
  return (
    <div data-field="dependsOn">
      <Field
        label={labelOf('dependsOn')}
        hint={factsAt(type, 'dependsOn')?.text}
        problem={problemAt('dependsOn') ?? ofOne}
      >
        {(at) => (
          <input
            {...at}
            type="text"
            autocomplete="off"
            placeholder="router, proxy"
            value={text}
            onInput={({ currentTarget: { value } }) => {
              setText(value);
              change('dependsOn', tagsIn(value));
            }}
          />
        )}
      </Field>
    </div>
  );
}
