import { useState } from 'preact/hooks';
import { api, bodyOf } from '../../../api/client.ts';
import { type ApiError, asApiError, type FieldProblem } from '../../../api/errors.ts';
import type { components } from '../../../api/openapi.d.ts';
import { Button } from '../../../parts/button.tsx';
import { FormError, problemOf, TextAreaField } from '../../../parts/field.tsx';
import type { ChannelForm } from './channel-form.ts';

type Preview = components['schemas']['AlertMessagePreview'];

/** The fields that show the problems that the API reports for them. */
export const TEMPLATE_NAMES: readonly string[] = ['titleTemplate', 'textTemplate'];

/** The result of a preview. */
interface Previewed {
  /** The request as JSON, to recognise later changes, which have no preview yet. */
  readonly request: string;
  readonly previews: readonly Preview[];
  readonly error: ApiError | null;
}

const WORDS = { FAILURE: 'A failure', RECOVERY: 'Its recovery' } as const;

/** The templates of messages, with a preview of an example. */
export function MessageTexts({
  form,
  change,
  problems,
}: {
  readonly form: ChannelForm;
  readonly change: (fields: Partial<ChannelForm>) => void;
  readonly problems: readonly FieldProblem[];
}) {
  // Only the user closes it; changes of the fields do not.
  const [isOpen, setOpen] = useState(form.titleTemplate !== '' || form.textTemplate !== '');
  const [isBusy, setBusy] = useState(false);
  const [previewed, setPreviewed] = useState<Previewed | null>(null);
  const body = previewOf(form);
  const request = JSON.stringify(body);
  const preview = async (): Promise<void> => {
    setBusy(true);
    setPreviewed(null);
    try {
      const { previews } = await bodyOf(api.POST('/v1/alert-channels/preview', { body }));
      setPreviewed({ request, previews, error: null });
    } catch (thrown) {
      setPreviewed({ request, previews: [], error: asApiError(thrown) });
    } finally {
      setBusy(false);
    }
  };
  const { previews = [], error = null } = previewed?.request === request ? previewed : {};
  const all = [...problems, ...(error?.problems ?? [])];
  const isRefused = TEMPLATE_NAMES.some((name) => problemOf(all, name) !== null);
  return (
    <details
      class="alerting-more"
      open={isOpen || isRefused}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>Texts of its messages</summary>
      <TextAreaField
        label="First line"
        hint={
          <>
            A template such as <code>{'{{CHECK_NAME}} is down'}</code>. Empty: what happened, and
            why.
          </>
        }
        rows={2}
        value={form.titleTemplate}
        onValue={(titleTemplate) => change({ titleTemplate })}
        problem={problemOf(all, 'titleTemplate')}
      />
      <TextAreaField
        label="What follows"
        hint={
          <>
            Such as <code>{'{{ERROR_MESSAGE}} since {{SINCE}}'}</code>. Empty:{' '}
            <code>{'{{ALERT_TEXT}}'}</code>, all facts.
          </>
        }
        rows={5}
        value={form.textTemplate}
        onValue={(textTemplate) => change({ textTemplate })}
        problem={problemOf(all, 'textTemplate')}
      />
      <Button class="small" isBusy={isBusy} onClick={() => void preview()}>
        Preview
      </Button>
      <FormError error={error} fields={TEMPLATE_NAMES} />
      <div role="status">
        {previews.map(({ notice, title, text, body }) => (
          <div key={notice} class="alerting-preview">
            <p class="muted">{WORDS[notice]}</p>
            <p>
              <strong>{title}</strong>
            </p>
            <pre>{text}</pre>
            <details>
              <summary>What is sent</summary>
              <pre>
                <code>{body}</code>
              </pre>
            </details>
          </div>
        ))}
      </div>
    </details>
  );
}

function previewOf({ type, titleTemplate, textTemplate, template, headers }: ChannelForm) {
  const contentType = headers.findLast(({ key }) => key.toLowerCase() === 'content-type')?.value;
  const isWebhook = type === 'WEBHOOK';
  return {
    type,
    titleTemplate: titleTemplate === '' ? null : titleTemplate,
    textTemplate: textTemplate === '' ? null : textTemplate,
    template: isWebhook && template !== '' ? template : null,
    ...(isWebhook && contentType ? { contentType } : {}),
  };
}
