import { problemOf, SelectField, TextField } from '../../../parts/field.tsx';
import { duration } from '../../../parts/formats.ts';
import { boundsOf, limits } from '../../../parts/forms/limits.ts';
import type { FieldsProps } from './channel-fields.tsx';
import { type ChannelForm, closesIncidents } from './channel-form.ts';

const HOUR = limits.channel.degradedDigestHour;
const WINDOW = limits.channel.groupWindow;
const SECOND_MS = 1_000;

/** The fields for grouped messages and digests. */
export function Bundling({ form, change, problems }: FieldsProps) {
  if (closesIncidents(form.type)) return null;
  return (
    <fieldset class="alerting-group">
      <legend>Fewer messages</legend>
      <SelectField
        label="One message for several checks"
        value={form.groupBy}
        options={[
          { value: 'none', label: 'No, one for each' },
          { value: 'LOCATION', label: 'of the same location' },
          { value: 'GROUP', label: 'of the same group' },
          { value: 'TAG', label: 'with the same first tag' },
        ]}
        onValue={(groupBy) => change({ groupBy: groupBy as ChannelForm['groupBy'] })}
      />
      {form.groupBy !== 'none' && (
        <TextField
          label="How many seconds the first waits for others"
          type="number"
          hint={`From ${WINDOW.min} to ${WINDOW.max} seconds (${duration(WINDOW.max * SECOND_MS)}).`}
          {...boundsOf(WINDOW)}
          value={form.groupWindow}
          onValue={(groupWindow) => change({ groupWindow })}
          problem={problemOf(problems, 'groupWindow')}
        />
      )}
      {form.sendDegraded && (
        <TextField
          label="Hour of the daily digest of degraded checks"
          hint={`From ${HOUR.min} to ${HOUR.max}, in the time zone of the account. Empty: each is sent at once.`}
          type="number"
          {...boundsOf(HOUR)}
          value={form.degradedDigestHour}
          onValue={(degradedDigestHour) => change({ degradedDigestHour })}
          problem={problemOf(problems, 'degradedDigestHour')}
        />
      )}
    </fieldset>
  );
}
