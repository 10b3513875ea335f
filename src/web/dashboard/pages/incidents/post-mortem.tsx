import { useEffect, useId, useState } from 'preact/hooks';
import { markdownHtml } from '../../../status/markdown.ts';
import { api } from '../../api/client.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Field, FormError, problemOf } from '../../parts/field.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { type Loaded, useSaving } from '../../parts/forms/use-saving.ts';
import { useUnsavedGuard } from '../../parts/forms/use-unsaved-guard.ts';
import { showToast } from '../../parts/toast.tsx';
import type { Incident } from './queries.ts';

/** What happened and why, in Markdown beside what readers will see of it. */
export function PostMortem({
  loaded,
  reload,
  onSaved,
}: {
  readonly loaded: Loaded<Incident>;
  readonly reload: () => void;
  readonly onSaved: (saved: Loaded<Incident>) => void;
}) {
  const id = useId();
  const { resource, etag } = loaded;
  const stored = resource.postMortem ?? '';
  const [base, setBase] = useState(etag);
  const [text, setText] = useState(stored);
  const [isChanged, setChanged] = useState(false);
  const saving = useSaving();
  useUnsavedGuard(isChanged);
  useEffect(() => {
    // Where somebody else saved it meanwhile, what is being written here stays.
    if (isChanged) return;
    setBase(etag);
    setText(stored);
  }, [etag, isChanged]);
  const save = async (): Promise<void> => {
    const isSaved = await saving.run(async () => {
      const { data, response } = await api.PATCH('/v1/status-pages/incidents/{incidentId}', {
        params: {
          path: { incidentId: resource.id },
          header: base === null ? {} : { 'If-Match': base },
        },
        body: { postMortem: text.trim() === '' ? null : text },
      });
      onSaved({ resource: data as Incident, etag: response.headers.get('etag') });
    });
    if (!isSaved) return;
    setChanged(false);
    showToast({ kind: 'pass', text: 'The post-mortem is saved.' });
  };
  if (!may('write') && stored === '') return null;
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>Post-mortem</h2>
        <span class="muted">
          {resource.lastUpdateStatus === 'RESOLVED' && !resource.isDraft
            ? 'Readers see it.'
            : 'Readers see it once the incident is published and resolved.'}
        </span>
      </div>
      <form
        class="panel-body incidents-post-mortem"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {may('write') && (
          <div>
            <Field
              label="What happened and why"
              hint="Markdown of at most 64 KiB: headings, lists, quotes, code, tables and links."
              problem={problemOf(saving.problems, 'postMortem')}
            >
              {(facts) => (
                <textarea
                  {...facts}
                  rows={14}
                  value={text}
                  onInput={(event) => {
                    setText(event.currentTarget.value);
                    setChanged(true);
                  }}
                />
              )}
            </Field>
            {saving.isOutdated ? (
              <Outdated
                kind="status-page-incident"
                id={resource.id}
                what="incident"
                onLoad={() => {
                  saving.forget();
                  setChanged(false);
                  reload();
                }}
              />
            ) : (
              <FormError error={saving.error} fields={['postMortem']} />
            )}
            <Button kind="primary" type="submit" isBusy={saving.isBusy} disabled={!isChanged}>
              Save the post-mortem
            </Button>
          </div>
        )}
        <div>
          <h3>{may('write') ? 'Preview' : 'As readers see it'}</h3>
          {text.trim() === '' ? (
            <p class="muted">Nothing is written yet.</p>
          ) : (
            // markdownHtml lets no HTML of the author through: it is what readers of pages get.
            <div
              class="incidents-preview"
              dangerouslySetInnerHTML={{ __html: markdownHtml(text) }}
            />
          )}
        </div>
      </form>
    </section>
  );
}
