import { api, bodyOf } from '../../api/client.ts';
import type { operations } from '../../api/openapi.d.ts';
import { useQuery } from '../../api/query.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../button.tsx';
import { TimeText } from '../time-text.tsx';

type Kind = NonNullable<NonNullable<operations['listAuditLog']['parameters']['query']>['kind']>;

/** Says that somebody else has saved a resource meanwhile, and offers to load theirs. */
export function Outdated({
  kind,
  id,
  what,
  load = 'Drop my changes and load theirs',
  onLoad,
}: {
  readonly kind: Kind;
  readonly id: string;
  /** For example `heartbeat`. */
  readonly what: string;
  /** The label of the button. */
  readonly load?: string;
  readonly onLoad: () => void;
}) {
  return (
    <div class="form-error" role="alert">
      {may('admin') ? <Who kind={kind} id={id} /> : 'Somebody else'} has changed this {what}{' '}
      meanwhile. <Button onClick={onLoad}>{load}</Button>
    </div>
  );
}

/** Only admins may read the audit log. */
function Who({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const query = { kind, resourceId: id, limit: 1 };
  const { data } = useQuery(`outdated ${kind} ${id}`, (signal) =>
    bodyOf(api.GET('/v1/audit-log', { params: { query }, signal })),
  );
  const [last] = data.value ?? [];
  if (last === undefined) return <>Somebody else</>;
  return (
    <>
      {last.actor.name ?? 'Somebody else'} (<TimeText at={last.at} />)
    </>
  );
}
