import { api, bodyOf } from '../../../api/client.ts';
import type { components } from '../../../api/openapi.d.ts';
import { type Query, useQuery } from '../../../api/query.ts';
import { ErrorState } from '../../../parts/error-state.tsx';
import { counted } from '../../../parts/formats.ts';
import { Skeleton } from '../../../parts/skeleton.tsx';
import { StateMark } from '../../../parts/states/state-mark.tsx';
import { Link } from '../../../shell/link.tsx';
import { CHANNEL_WORDS } from '../channels/channel-form.ts';
import '../alerting.css';

type Found = components['schemas']['AlertRecipients'];
type Settings = Found['settings'];
type Recipient = Found['recipients'][number];

function useRecipients(checkId: string): Query<Found> {
  const query: Query<Found> = useQuery<Found>(
    `recipients ${checkId}`,
    (signal) =>
      bodyOf(
        api.GET('/v1/checks/{id}/alert-recipients', { params: { path: { id: checkId } }, signal }),
      ),
    {
      on: ['alert', 'alert_channel', 'check', 'group', 'maintenance_window'],
      concerns: ({ kind, resourceId }) =>
        !kind.startsWith('check.') ||
        resourceId === checkId ||
        // Other checks matter only if alerts wait for them, or theirs for this check.
        (kind === 'check.status_changed' && isRelated(query.data.value)),
    },
  );
  return query;
}

/** Whether its alerts wait for other checks now, or those of other checks may wait for it. */
function isRelated(found: Found | null): boolean {
  if (found === null) return false;
  const waits = found.silences.some(({ code }) => code === 'PARENT_FAILS');
  return waits || found.dependents.total > 0;
}

/** Why a failing or degraded check caused no alert. Shows nothing if it did, and while the check passes. */
export function WhyNoAlert({ checkId }: { readonly checkId: string }) {
  const problem = useRecipients(checkId).data.value?.problem ?? null;
  if (problem === null || problem.isAlerted) return null;
  return (
    <section class="panel alerting-open" aria-label="Why there is no alert">
      <p>
        <b>No alert.</b> {problem.reason}
      </p>
    </section>
  );
}

/** Who would be notified of an alert of a check next time, and why. */
export function Recipients({ checkId }: { readonly checkId: string }) {
  const { data, error, reload } = useRecipients(checkId);
  const found = data.value;
  // The history of a deleted check is still shown.
  if (found === null && error.value?.status === 404) return null;
  return (
    <section class="panel" aria-labelledby="recipients-title">
      <header class="panel-head">
        <h2 id="recipients-title">Who would be notified next time</h2>
      </header>
      {error.value !== null && <ErrorState error={error.value} retry={reload} />}
      {found === null && error.value === null && (
        <div class="panel-body">
          <Skeleton lines={3} label="Loading who would be notified" />
        </div>
      )}
      {found !== null && <RecipientList found={found} />}
    </section>
  );
}

function RecipientList({ found }: { readonly found: Found }) {
  const { silences, recipients, omitted, settings, settingsOf, escalation, dependents } = found;
  const isOfFailures = ({ notifications }: Recipient) => notifications.includes('FAILURE');
  const others = recipients.filter((each) => !isOfFailures(each));
  return (
    <>
      {silences.length > 0 && (
        <div class="panel-body alerting-silences">
          <p>
            <StateMark state="paused" word="Nobody now" />
          </p>
          <ul>
            {silences.map(({ code, message }) => (
              <li key={code}>
                {message}{' '}
                {code === 'NO_CHANNEL' && <Link to="/channels">Choose a channel for it</Link>}
              </li>
            ))}
          </ul>
        </div>
      )}
      <Channels of={recipients.filter(isOfFailures)} />
      {others.length > 0 && <h3 class="alerting-panel-foot">Not notified of failures</h3>}
      <Channels of={others} />
      {omitted > 0 && <p class="panel-body muted">And {counted(omitted, 'more channel')}.</p>}
      <p class="alerting-panel-foot muted">
        {sentenceOf(settings)} By the settings of {SETTINGS_OF[settingsOf]}.
        {escalation !== null &&
          ` After ${counted(escalation.minutes, 'minute')} without acknowledgement also ${escalation.channels
            .map(({ name }) => name)
            .join(', ')}.`}
        {dependents.total > 0 &&
          ` While it fails, the alerts of ${counted(dependents.total, 'check')} that ${dependents.total === 1 ? 'depends' : 'depend'} on it wait.${failingText(dependents)}`}
      </p>
    </>
  );
}

function Channels({ of }: { readonly of: readonly Recipient[] }) {
  if (of.length === 0) return null;
  return (
    <ul class="alerting-recipients">
      {of.map(({ channel, reason, problem }) => (
        <li key={channel.id}>
          <div class="alerting-name">
            <Link to={`/channels/${channel.id}`} title={channel.name}>
              {channel.name}
            </Link>{' '}
            <span class="chip">{CHANNEL_WORDS[channel.type]}</span>
          </div>
          <p class="muted">{reason}</p>
          {problem !== null && <p class="failing">{problem}</p>}
        </li>
      ))}
    </ul>
  );
}

function failingText({ failing, names }: Found['dependents']): string {
  if (failing === 0) return '';
  const more = failing > names.length ? ` and ${counted(failing - names.length, 'other')}` : '';
  return ` Of these fail now: ${names.join(', ')}${more}.`;
}

const SETTINGS_OF = { CHECK: 'the check', GROUP: 'its group', ACCOUNT: 'the account' } as const;
const NO_LIMIT = 100_000;

function sentenceOf({
  escalationType,
  runBasedEscalation,
  timeBasedEscalation,
  reminders,
}: Settings): string {
  const runs = runBasedEscalation?.failedRunThreshold ?? 1;
  const minutes = timeBasedEscalation?.minutesFailingThreshold ?? 5;
  const when =
    escalationType === 'TIME_BASED'
      ? `After ${counted(minutes, 'minute')} of failing`
      : runs === 1
        ? 'At the first failed run'
        : `After ${counted(runs, 'failed run')} in a row`;
  const { amount = 0, interval = 5 } = reminders ?? {};
  const every = `every ${interval === 1 ? 'minute' : `${interval} minutes`}`;
  const repeated =
    amount === 0
      ? 'without reminders'
      : amount === NO_LIMIT
        ? `with reminders ${every} until it recovers`
        : `with ${counted(amount, 'reminder')}, ${every}`;
  return `${when}, ${repeated}.`;
}
