import { useId } from 'preact/hooks';
import { markdownHtml } from '../../../status/markdown.ts';
import { api } from '../../api/client.ts';
import type { Query } from '../../api/query.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Field, FormError, problemOf } from '../../parts/field.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { useEdited } from '../../parts/forms/use-edited.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { showToast } from '../../parts/toast.tsx';
import type { Incident } from './queries.ts';

const formOf = ({ postMortem }: Incident) => ({ text: postMortem ?? '' });

/** The post-mortem as Markdown, with a preview of the text that readers will see. */
export function PostMortem({
  loaded,
  reload,
  onSaved,
}: {
  readonly loaded: Loaded<Incident>;
  readonly reload: Query<unknown>['reload'];
  readonly onSaved: (saved: Loaded<Incident>) => void;
}) {
  const id = useId();
  const { resource } = loaded;
  const edited = useEdited({ loaded, formOf, reload });
  const { base, isChanged, saving } = edited;
  const { text } = edited.form;
  const save = async (): Promise<void> => {
    const isSaved = await edited.save(async ({ text }, etag) => {
      const { data, response } = await api.PATCH('/v1/status-pages/incidents/{incidentId}', {
        params: {
          path: { incidentId: resource.id },
          header: etag === null ? {} : { 'If-Match': etag },
        },
        body: { postMortem: text.trim() === '' ? null : text },
      });
      const saved = { resource: data as Incident, etag: response.headers.get('etag') };
      onSaved(saved);
      return saved;
    });
    if (isSaved) showToast({ kind: 'pass', text: 'The post-mortem is saved.' });
  };
  if (!may('write') && base.text === '') return null;
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
                  onInput={(event) => edited.change({ text: event.currentTarget.value })}
                />
              )}
            </Field>
            {edited.isOutdated ? (
              <Outdated
                kind="status-page-incident"
                id={resource.id}
                what="incident"
                edited={edited}
                labelOf={() => 'post-mortem'}
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
            // markdownHtml escapes the HTML of the author. Readers of status pages get the same.
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
