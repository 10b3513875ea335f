import type { FieldProblem } from '../../../api/errors.ts';
import { Button } from '../../../parts/button.tsx';
import { CheckField, Field, problemOf, SelectField, TextField } from '../../../parts/field.tsx';
import { boundsOf, limits } from '../../../parts/forms/limits.ts';
import { CrossIcon } from '../../../parts/icons.tsx';
import {
  PROBLEM_KINDS,
  PROBLEM_WORDS,
  type ProblemKind,
} from '../../../parts/problems/problem-words.ts';
import type { ChannelForm, Pair } from './channel-form.ts';
import { TEMPLATE_NAMES } from './message-texts.tsx';
import { SERVICES } from './service-fields.ts';
import { ServiceForm } from './service-form.tsx';

const EXPIRY_DAYS = limits.channel.sslExpiryThreshold;

export interface FieldsProps {
  readonly form: ChannelForm;
  readonly change: (fields: Partial<ChannelForm>) => void;
  readonly problems: readonly FieldProblem[];
}

/** The fields that show their own problems; other problems are shown below the form. */
export const FIELD_NAMES: readonly string[] = [
  'config.address',
  'config.url',
  'config.name',
  'config.number',
  'config.template',
  'config.webhookSecret',
  'sslExpiryThreshold',
  'groupWindow',
  'degradedDigestHour',
  ...TEMPLATE_NAMES,
  ...Object.values(SERVICES).flatMap(({ fields }) => fields.map(({ name }) => `config.${name}`)),
];

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'].map((method) => ({
  value: method,
  label: method,
}));

/** The fields of the target of the channel. */
export function ChannelFields(props: FieldsProps) {
  const { form, change, problems } = props;
  switch (form.type) {
    case 'EMAIL':
      return (
        <TextField
          label="Address"
          type="email"
          autocomplete="off"
          placeholder="ops@example.com"
          value={form.address}
          onValue={(address) => change({ address })}
          problem={problemOf(problems, 'config.address')}
        />
      );
    case 'SLACK':
      return (
        <TextField
          label="URL of the incoming webhook"
          hint="In Slack: Apps, Incoming Webhooks, Add to Slack."
          type="url"
          placeholder="https://hooks.slack.com/services/…"
          value={form.url}
          onValue={(url) => change({ url })}
          problem={problemOf(problems, 'config.url')}
        />
      );
    case 'SMS':
      return (
        <>
          <TextField
            label="Name of the recipient"
            value={form.name}
            onValue={(name) => change({ name })}
            problem={problemOf(problems, 'config.name')}
          />
          <TextField
            label="Number"
            hint="With + and the code of the country."
            placeholder="+4915112345678"
            value={form.number}
            onValue={(number) => change({ number })}
            problem={problemOf(problems, 'config.number')}
          />
        </>
      );
    case 'WEBHOOK':
      return <WebhookFields {...props} />;
    default:
      return (
        <ServiceForm
          type={form.type}
          values={form.service}
          problems={problems}
          change={(service) => change({ service })}
        />
      );
  }
}

function WebhookFields({ form, change, problems }: FieldsProps) {
  return (
    <>
      <TextField
        label="Name"
        value={form.name}
        onValue={(name) => change({ name })}
        problem={problemOf(problems, 'config.name')}
      />
      <TextField
        label="URL"
        type="url"
        placeholder="https://example.com/hooks/1"
        value={form.url}
        onValue={(url) => change({ url })}
        problem={problemOf(problems, 'config.url')}
      />
      <SelectField
        label="Method"
        value={form.method}
        options={METHODS}
        onValue={(method) => change({ method })}
      />
      <details class="alerting-more" open={hasMore(form, problems)}>
        <summary>Headers, query, body and signature</summary>
        <Pairs
          label="Headers"
          one="header"
          pairs={form.headers}
          onChange={(headers) => change({ headers })}
        />
        <Pairs
          label="Query parameters"
          one="parameter"
          pairs={form.queryParameters}
          onChange={(queryParameters) => change({ queryParameters })}
        />
        <Field
          label="Body"
          hint={
            <>
              A template such as <code>{'{"text": "{{ALERT_TITLE}}: {{RESULT_LINK}}"}'}</code>.
              Empty: all variables as JSON.
            </>
          }
          problem={problemOf(problems, 'config.template')}
        >
          {(facts) => (
            <textarea
              {...facts}
              class="alerting-code"
              rows={5}
              spellcheck={false}
              value={form.template}
              onInput={(event) => change({ template: event.currentTarget.value })}
            />
          )}
        </Field>
        <TextField
          label="Secret of the signature"
          hint={
            form.hasSecret
              ? 'One is stored. Leave this empty to keep it.'
              : 'Signs each request in x-service-signature. Empty: no signature.'
          }
          type="password"
          autocomplete="new-password"
          value={form.webhookSecret}
          onValue={(webhookSecret) => change({ webhookSecret })}
          problem={problemOf(problems, 'config.webhookSecret')}
        />
        {form.hasSecret && (
          <CheckField
            label="Remove the stored secret"
            isChecked={form.removesSecret}
            onValue={(removesSecret) => change({ removesSecret })}
          />
        )}
      </details>
    </>
  );
}

function hasMore(form: ChannelForm, problems: readonly FieldProblem[]): boolean {
  return (
    form.headers.length + form.queryParameters.length > 0 ||
    form.template !== '' ||
    problems.some(({ path }) => /template|headers|queryParameters|webhookSecret/.test(path))
  );
}

const NO_PAIR: Pair = { key: '', value: '', locked: false };

function Pairs({
  label,
  one,
  pairs,
  onChange,
}: {
  readonly label: string;
  readonly one: string;
  readonly pairs: readonly Pair[];
  readonly onChange: (pairs: readonly Pair[]) => void;
}) {
  const set = (index: number, fields: Partial<Pair>): void =>
    onChange(pairs.map((pair, at) => (at === index ? { ...pair, ...fields } : pair)));
  return (
    <fieldset class="alerting-group">
      <legend>{label}</legend>
      {pairs.map(({ key, value, locked }, index) => (
        <div class="alerting-pair-row" key={index}>
          <input
            type="text"
            aria-label={`Name of ${one} ${index + 1}`}
            placeholder="Name"
            value={key}
            onInput={(event) => set(index, { key: event.currentTarget.value })}
          />
          <input
            {...(locked ? { type: 'password' } : { type: 'text' })}
            autocomplete="off"
            aria-label={`Value of ${one} ${index + 1}`}
            placeholder={locked && value === '' ? 'stored' : 'Value'}
            value={value}
            onInput={(event) => set(index, { value: event.currentTarget.value })}
          />
          <label title="A locked value is encrypted and never shown again">
            <input
              type="checkbox"
              checked={locked}
              onChange={(event) => set(index, { locked: event.currentTarget.checked })}
            />
            locked
          </label>
          <Button
            class="icon"
            aria-label={`Remove ${one} ${index + 1}`}
            onClick={() => onChange(pairs.filter((_, at) => at !== index))}
          >
            <CrossIcon />
          </Button>
        </div>
      ))}
      <Button class="small" onClick={() => onChange([...pairs, NO_PAIR])}>
        Add a {one}
      </Button>
    </fieldset>
  );
}

/** The fields for the kinds of notices that the channel gets. */
export function Wishes({ form, change, problems }: FieldsProps) {
  return (
    <fieldset class="alerting-group">
      <legend>Notify it of</legend>
      <CheckField
        label="Failures"
        isChecked={form.sendFailure}
        onValue={(sendFailure) => change({ sendFailure })}
      />
      <CheckField
        label="Recoveries"
        isChecked={form.sendRecovery}
        onValue={(sendRecovery) => change({ sendRecovery })}
      />
      <CheckField
        label="Degraded checks"
        isChecked={form.sendDegraded}
        onValue={(sendDegraded) => change({ sendDegraded })}
      />
      <CheckField
        label="Certificates that expire soon"
        isChecked={form.sslExpiry}
        onValue={(sslExpiry) => change({ sslExpiry })}
      />
      {form.sslExpiry && (
        <TextField
          label="How many days before"
          type="number"
          hint={`From ${EXPIRY_DAYS.min} to ${EXPIRY_DAYS.max}.`}
          {...boundsOf(EXPIRY_DAYS)}
          value={form.sslExpiryThreshold}
          onValue={(sslExpiryThreshold) => change({ sslExpiryThreshold })}
          problem={problemOf(problems, 'sslExpiryThreshold')}
        />
      )}
      <SelectField
        label="Private locations whose agents are silent"
        value={form.sendLocationSilent}
        options={[
          { value: 'as-failures', label: 'If it is notified of failures' },
          { value: 'yes', label: 'Yes' },
          { value: 'no', label: 'No' },
        ]}
        onValue={(value) =>
          change({ sendLocationSilent: value as ChannelForm['sendLocationSilent'] })
        }
      />
      <ProblemWishes
        chosen={form.sendMonitoringProblems}
        onValue={(sendMonitoringProblems) => change({ sendMonitoringProblems })}
      />
    </fieldset>
  );
}

/** The fields for the problems of monitoring itself that the channel is notified of. */
function ProblemWishes({
  chosen,
  onValue,
}: {
  readonly chosen: ChannelForm['sendMonitoringProblems'];
  readonly onValue: (chosen: ChannelForm['sendMonitoringProblems']) => void;
}) {
  const isChosen = (kind: ProblemKind): boolean =>
    chosen !== 'as-failures' && chosen.includes(kind);
  return (
    <>
      <SelectField
        label="Problems of monitoring itself"
        value={chosen === 'as-failures' ? chosen : 'chosen'}
        options={[
          { value: 'as-failures', label: 'All, if it is notified of failures' },
          { value: 'chosen', label: 'Only those chosen below' },
        ]}
        onValue={(value) => onValue(value === 'chosen' ? PROBLEM_KINDS : 'as-failures')}
      />
      {chosen !== 'as-failures' &&
        PROBLEM_KINDS.map((kind) => (
          <CheckField
            key={kind}
            label={PROBLEM_WORDS[kind].wish}
            isChecked={isChosen(kind)}
            onValue={(isWanted) =>
              onValue(PROBLEM_KINDS.filter((each) => (each === kind ? isWanted : isChosen(each))))
            }
          />
        ))}
    </>
  );
}
