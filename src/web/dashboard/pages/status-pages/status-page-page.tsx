import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api } from '../../api/client.ts';
import { ensureDeleted } from '../../api/ensure-deleted.ts';
import type { Query } from '../../api/query.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { FormError } from '../../parts/field.tsx';
import { counted } from '../../parts/formats.ts';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { useEdited } from '../../parts/forms/use-edited.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { showToast } from '../../parts/toast.tsx';
import { addressOf, Link } from '../../shell/link.tsx';
import { useTitle } from '../../shell/title.ts';
import { useRefresh } from '../locations/use-refresh.ts';
import type { PageProps } from '../page-props.ts';
import { CardsEditor } from './cards-editor.tsx';
import { DomainCheck } from './domain-check.tsx';
import { PageFields } from './page-fields.tsx';
import { bodyOf, FIELD_NAMES, formOf } from './page-form.ts';
import { PagePreview } from './page-preview.tsx';
import {
  forgetPages,
  publicPath,
  type StatusPage,
  useConditions,
  usePage,
  useSubscribers,
} from './queries.ts';
import { ServiceDialog } from './service-dialog.tsx';
import './status-pages.css';
import { SubscriberList } from './subscriber-list.tsx';

const REFRESH_MS = 10_000;

/** The editor of a status page, with a preview. */
export function Page({ params: { id = '' } }: PageProps) {
  const query = usePage(id);
  const loaded = query.data.value;
  const error = query.error.value;
  useTitle(loaded?.resource.name ?? null);
  const crumbs = (
    <p class="status-pages-back">
      <Link to="/status-pages">Status pages</Link>
    </p>
  );
  if (loaded === null || error?.status === 404) {
    return (
      <>
        {crumbs}
        <PageHeader title="Status page" />
        {error === null && <Skeleton lines={12} height={32} label="Loading the page" />}
        {error?.status === 404 && (
          <EmptyState title="There is no such status page">
            It may have been deleted. <Link to="/status-pages">See all status pages</Link>
          </EmptyState>
        )}
        {error !== null && error.status !== 404 && (
          <ErrorState error={error} retry={query.reload} />
        )}
      </>
    );
  }
  const page = loaded.resource;
  return (
    <>
      {crumbs}
      <PageHeader
        title={page.name}
        actions={
          <>
            <a class="button" href={publicPath(page)} target="_blank" rel="noreferrer">
              Open the page
            </a>
            {may('write') && <DeletePage page={page} />}
          </>
        }
      >
        {page.isPrivate && <span class="chip">private</span>}
        <Subscribers id={page.id} />
      </PageHeader>
      {(page.warnings ?? []).map(({ code, message }) => (
        <p class="status-pages-warning" key={`${code} ${message}`}>
          {message}
        </p>
      ))}
      <Editor loaded={loaded} reload={query.reload} onSaved={query.set} />
      <SubscriberList page={page} />
    </>
  );
}

function Subscribers({ id }: { readonly id: string }) {
  const found = useSubscribers(id).query.data.value;
  if (found === null) return null;
  return <span class="muted">{counted(found.total ?? found.entries.length, 'subscriber')}</span>;
}

function Editor({
  loaded,
  reload,
  onSaved,
}: {
  readonly loaded: Loaded<StatusPage>;
  readonly reload: Query<unknown>['reload'];
  readonly onSaved: (saved: Loaded<StatusPage>) => void;
}) {
  const { resource: page } = loaded;
  const conditionsQuery = useConditions(page);
  // The service renders the page again some time after a change.
  useRefresh(conditionsQuery, REFRESH_MS);
  const conditions = conditionsQuery.data.value;
  const [opened, open] = useState<string | null>(null);
  const edited = useEdited({ loaded, formOf, reload });
  const { form, isChanged, saving, change } = edited;
  const isWriter = may('write');
  const save = async (): Promise<void> => {
    const isSaved = await edited.save(async (sent, etag) => {
      const { data, response } = await api.PATCH('/v1/status-pages/{statusPageId}', {
        params: {
          path: { statusPageId: page.id },
          header: etag === null ? {} : { 'If-Match': etag },
        },
        body: bodyOf(sent),
      });
      const saved = { resource: data as StatusPage, etag: response.headers.get('etag') };
      onSaved(saved);
      return saved;
    });
    if (isSaved) showToast({ kind: 'pass', text: 'The page is saved.' });
  };
  return (
    <>
      <form
        class="status-pages-editor"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <div class="panel">
          <fieldset class="status-pages-fields panel-body" disabled={!isWriter}>
            <legend class="visually-hidden">The page</legend>
            <h2>Cards and services</h2>
            <CardsEditor cards={form.cards} onChange={(cards) => change({ cards })} onOpen={open} />
            <PageFields
              form={form}
              hasPassword={page.hasPassword}
              problems={saving.problems}
              change={change}
            />
          </fieldset>
          {isWriter && (
            <div class="panel-body">
              {page.customDomain !== null && (
                <DomainCheck page={page} isChanged={form.customDomain !== page.customDomain} />
              )}
              {edited.isOutdated ? (
                <Outdated kind="status-page" id={page.id} what="page" edited={edited} />
              ) : (
                <FormError error={saving.error} fields={FIELD_NAMES} />
              )}
              <div class="status-pages-actions">
                <Button kind="primary" type="submit" isBusy={saving.isBusy} disabled={!isChanged}>
                  Save
                </Button>
                {isChanged && <Button onClick={edited.undo}>Undo changes</Button>}
              </div>
            </div>
          )}
        </div>
        <div class="status-pages-beside">
          <PagePreview form={form} conditions={conditions} />
        </div>
      </form>
      {opened !== null && <ServiceDialog id={opened} onClose={() => open(null)} />}
    </>
  );
}

function DeletePage({ page }: { readonly page: StatusPage }) {
  const [isAsked, ask] = useState(false);
  const { route } = useLocation();
  return (
    <>
      <Button kind="danger" onClick={() => ask(true)}>
        Delete
      </Button>
      {isAsked && (
        <Confirm
          title={`Delete ${page.name}`}
          action="Delete the page"
          onClose={() => ask(false)}
          run={async () => {
            const params = { path: { statusPageId: page.id } };
            await ensureDeleted(api.DELETE('/v1/status-pages/{statusPageId}', { params }));
            showToast({ kind: 'plain', text: `${page.name} is deleted.` });
            route(addressOf('/status-pages'), true);
            forgetPages();
          }}
        >
          <p>
            Readers get a 404 at its address, and its subscribers are deleted. Its services and
            incidents stay. This cannot be undone.
          </p>
        </Confirm>
      )}
    </>
  );
}
