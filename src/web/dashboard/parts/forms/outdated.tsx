import { api, bodyOf } from '../../api/client.ts';
import type { operations } from '../../api/openapi.d.ts';
import { useQuery } from '../../api/query.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../button.tsx';
import { TimeText } from '../time-text.tsx';
import type { EditedForm } from './use-edited.ts';

type Kind = NonNullable<NonNullable<operations['listAuditLog']['parameters']['query']>['kind']>;

/** Says who has saved a resource meanwhile and the changed fields. Asks which version to continue with. */
export function Outdated({
  kind,
  id,
  what,
  edited: { changes, isUnread, keepMine, takeTheirs },
  labelOf = wordsOf,
}: {
  readonly kind: Kind;
  readonly id: string;
  /** For example `heartbeat`. */
  readonly what: string;
  readonly edited: Pick<
    EditedForm<unknown, object>,
    'changes' | 'isUnread' | 'keepMine' | 'takeTheirs'
  >;
  /** The label of a field in the form. */
  readonly labelOf?: (name: string) => string;
}) {
  const both = changes.filter(({ isMine }) => isMine);
  const listed = (names: typeof changes): string =>
    names.map(({ name }) => labelOf(name)).join(', ');
  return (
    <div class="form-error" role="alert">
      <p>
        {may('admin') ? <Who kind={kind} id={id} /> : 'Somebody else'} has changed this {what}{' '}
        meanwhile{changes.length > 0 && `: ${listed(changes)}`}. What you entered is still here.
        {both.length > 0 && ` Both of you changed ${listed(both)}: your text replaces theirs.`}
        {isUnread && ' Theirs could not be read: try again in a moment.'}
      </p>
      {changes.length > 0 && <Button onClick={keepMine}>Keep my changes</Button>}{' '}
      <Button onClick={takeTheirs}>Drop my changes and load theirs</Button>
    </div>
  );
}

/** `defaultTheme` becomes `default theme`. */
function wordsOf(name: string): string {
  return name.replaceAll(/([A-Z])/g, ' $1').toLowerCase();
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
