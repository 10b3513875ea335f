import type { FieldProblem } from '../../api/errors.ts';
import type { components } from '../../api/openapi.d.ts';
import { ErrorState } from '../../parts/error-state.tsx';
import { CheckField, problemOf, TextField } from '../../parts/field.tsx';
import { count, counted, duration } from '../../parts/formats.ts';
import { boundsOf, limits } from '../../parts/forms/limits.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Link } from '../../shell/link.tsx';
import { useChannelChoices } from '../alerting/channels/channel-choices.ts';
import { channelName } from '../alerting/channels/channel-form.ts';

type Step = components['schemas']['AccountAlertSettings']['escalationStep'];

const MINUTES = limits.escalation.minutes;
const CHANNELS = limits.escalation.alertChannelIds;
const MINUTE_MS = 60_000;
const DEFAULT_MINUTES = 10;

/** The channels for alerts that nobody acknowledges. */
export function EscalationFields({
  step,
  problems,
  change,
}: {
  readonly step: Step;
  readonly problems: readonly FieldProblem[];
  readonly change: (step: Step) => void;
}) {
  return (
    <>
      <CheckField
        label="Send alerts that nobody acknowledges to more channels"
        hint="This applies to all checks, also those with their own alert settings."
        isChecked={step !== null}
        onValue={(isOn) => change(isOn ? { minutes: DEFAULT_MINUTES, alertChannelIds: [] } : null)}
      />
      {step !== null && (
        <>
          <TextField
            label="Minutes without acknowledgement"
            type="number"
            {...boundsOf(MINUTES)}
            hint={`From ${MINUTES.min} to ${count(MINUTES.max)} (${duration(MINUTES.max * MINUTE_MS)}).`}
            value={String(step.minutes)}
            onValue={(value) => change({ ...step, minutes: Number(value) })}
            problem={problemOf(problems, 'escalationStep.minutes')}
          />
          <Channels step={step} problems={problems} change={change} />
        </>
      )}
    </>
  );
}

function Channels({
  step,
  problems,
  change,
}: {
  readonly step: NonNullable<Step>;
  readonly problems: readonly FieldProblem[];
  readonly change: (step: Step) => void;
}) {
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
  const { alertChannelIds: chosen } = step;
  const problem = problemOf(problems, 'escalationStep.alertChannelIds');
  const more = (found.total ?? 0) - found.entries.length;
  const choose = (id: number, isChosen: boolean): void => {
    const others = chosen.filter((each) => each !== id);
    change({ ...step, alertChannelIds: isChosen ? [...others, id] : others });
  };
  return (
    <fieldset class="settings-choices">
      <legend>Channels that get them then</legend>
      {found.entries.length === 0 && (
        <p class="muted">
          There are no channels yet. <Link to="/channels">Create one</Link>
        </p>
      )}
      {found.entries.map((channel) => (
        <CheckField
          key={channel.id}
          label={channelName(channel)}
          isChecked={chosen.includes(channel.id)}
          onValue={(isChosen) => choose(channel.id, isChosen)}
        />
      ))}
      {more > 0 && <p class="muted">{counted(more, 'more channel')}: the API takes their ids.</p>}
      {chosen.length === 0 && (
        <p class="muted">
          Choose at least {CHANNELS.min}, at most {CHANNELS.max}.
        </p>
      )}
      {problem !== null && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  );
}
