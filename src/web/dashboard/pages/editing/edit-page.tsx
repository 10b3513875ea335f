import { api } from '../../api/client.ts';
import { useQuery } from '../../api/query.ts';
import { may } from '../../api/signed-in-user.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Link } from '../../shell/link.tsx';
import { useTitle } from '../../shell/title.ts';
import { useUrlState } from '../../shell/url-state.ts';
import { type AnyCheck, type Check, checkPath } from '../check/model.ts';
import { useCheck } from '../check/queries.ts';
import type { PageProps } from '../page-props.ts';
import { duplicateOf, hidesValues, newDraft } from './draft.ts';
import './editing.css';
import { Editor } from './editor.tsx';
import { CHECK_TYPES } from './types.ts';

/** A new check at `/checks/new`, otherwise an existing one. `?from=` starts with a copy of a check. */
export function Page({ params: { id = '' } }: PageProps) {
  const from = useUrlState().get('from');
  const title = id === '' ? 'New check' : 'Edit check';
  if (!may('write')) {
    return (
      <>
        <PageHeader title={title} />
        <p>Your role in this account may not change checks.</p>
      </>
    );
  }
  if (id !== '') return <StoredCheck id={id} />;
  return from === null ? <NewCheck /> : <Copy from={from} />;
}

function NewCheck() {
  const asked = useUrlState().get('type');
  const type = CHECK_TYPES.find((each) => each === asked) ?? 'URL';
  return (
    <>
      <PageHeader title="New check" />
      <Editor initial={newDraft(type)} stored={null} />
    </>
  );
}

function Copy({ from }: { readonly from: string }) {
  const { data, error, reload } = useCheck(from);
  const check = data.value;
  if (check === null || check.checkType === 'HEARTBEAT') {
    return <NotReady title="New check" check={check} error={error.value} reload={reload} />;
  }
  return (
    <>
      <PageHeader title="New check" />
      <p class="editing-lead muted">
        A copy of <Link to={checkPath(from)}>{check.name}</Link>. It begins paused.
        {hidesValues(check as Check) && ' Hidden values are not copied: enter them again.'}
      </p>
      <Editor initial={duplicateOf(check as Check)} stored={null} />
    </>
  );
}

function StoredCheck({ id }: { readonly id: string }) {
  const query = useQuery<Loaded<AnyCheck>>(
    `check to edit ${id}`,
    async (signal) => {
      const { data, response } = await api.GET('/v1/checks/{id}', {
        params: { path: { id } },
        signal,
      });
      return { resource: data as AnyCheck, etag: response.headers.get('etag') };
    },
    { on: ['check.updated'], concerns: ({ resourceId }) => resourceId === id },
  );
  const loaded = query.data.value;
  const check = loaded?.resource ?? null;
  useTitle(check === null ? null : `Edit ${check.name}`);
  if (loaded === null || check === null || check.checkType === 'HEARTBEAT') {
    return (
      <NotReady title="Edit check" check={check} error={query.error.value} reload={query.reload} />
    );
  }
  return (
    <>
      <nav class="editing-crumbs" aria-label="Path">
        <Link to="/">Checks</Link> / <Link to={checkPath(id)}>{check.name}</Link> / Edit
      </nav>
      <PageHeader title={`Edit ${check.name}`}>
        <span class="chip">{check.checkType}</span>
      </PageHeader>
      <Editor stored={loaded as Loaded<Check>} onReload={query.reload} onSaved={query.set} />
    </>
  );
}

/** Shown while the check is read, and if it cannot be edited here. */
function NotReady({
  title,
  check,
  error,
  reload,
}: {
  readonly title: string;
  readonly check: AnyCheck | null;
  readonly error: ReturnType<typeof useCheck>['error']['value'];
  readonly reload: () => void;
}) {
  return (
    <>
      <PageHeader title={title} />
      {check !== null ? (
        <EmptyState title="This is a heartbeat">
          It has its own form.{' '}
          <Link to={`/heartbeats/${encodeURIComponent(check.id)}`}>Go to its page</Link>
        </EmptyState>
      ) : error === null ? (
        <Skeleton lines={14} height={32} label="Loading the check" />
      ) : error.status === 404 ? (
        <EmptyState title="There is no such check">
          It may have been deleted. <Link to="/">Go to the overview</Link>
        </EmptyState>
      ) : (
        <ErrorState error={error} retry={reload} />
      )}
    </>
  );
}
