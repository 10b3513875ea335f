import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { ChoicesError } from '../../parts/error-state.tsx';
import { count } from '../../parts/formats.ts';
import { reloadGroups, useGroups } from '../../parts/lists/use-groups.ts';
import { DeleteGroup } from './delete-group.tsx';
import { GroupDialog } from './group-dialog.tsx';
import type { Section } from './overview-data.ts';

/** The open dialog. */
type Open =
  | { readonly kind: 'new' }
  | { readonly kind: 'edit'; readonly id: number }
  | { readonly kind: 'delete'; readonly id: number; readonly name: string };

interface GroupDialogs {
  make(): void;
  edit(id: number): void;
  /** The dialog that is open. */
  readonly view: ComponentChildren;
}

/**
 * The dialogs that create, edit and delete groups.
 *
 * @param changed called after each change: events may not arrive
 */
export function useGroupDialogs(changed: () => void): GroupDialogs {
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const onChanged = (): void => {
    reloadGroups();
    changed();
  };
  return {
    make: () => setOpen({ kind: 'new' }),
    edit: (id) => setOpen({ kind: 'edit', id }),
    view:
      open === null ? null : open.kind === 'delete' ? (
        <DeleteGroup id={open.id} name={open.name} onChanged={onChanged} onClose={close} />
      ) : (
        <GroupDialog
          id={open.kind === 'new' ? null : open.id}
          onDelete={(group) => setOpen({ kind: 'delete', ...group })}
          onChanged={onChanged}
          onClose={close}
        />
      ),
  };
}

const MAX_SHOWN = 50;

/** Groups that no check belongs to, which have no section of their own. */
export function GroupsWithoutChecks({
  sections,
  edit,
}: {
  /** All sections of groups. */
  readonly sections: readonly Section[];
  readonly edit: GroupDialogs['edit'];
}) {
  const { data, error, reload } = useGroups();
  const found = data.value;
  const used = new Set(sections.map(({ value }) => value));
  const empty = (found?.groups ?? []).filter(({ id }) => !used.has(String(id)));
  const limitNote = found?.limitNote ?? null;
  return (
    <>
      {error.value !== null && (
        <div class="panel panel-body">
          <ChoicesError what="groups without checks" error={error.value} retry={reload} />
        </div>
      )}
      {(empty.length > 0 || limitNote !== null) && (
        <section class="panel" aria-labelledby="overview-empty-groups">
          <div class="panel-head">
            <h2 id="overview-empty-groups">
              Groups without checks <span class="muted">{count(empty.length)}</span>
            </h2>
          </div>
          <ul class="overview-empty-groups">
            {empty.slice(0, MAX_SHOWN).map(({ id, name }) => (
              <li key={id}>
                <span class="ellipsis" title={name}>
                  {name}
                </span>
                {may('write') && (
                  <Button kind="plain" aria-label={`Edit group ${name}`} onClick={() => edit(id)}>
                    Edit
                  </Button>
                )}
              </li>
            ))}
          </ul>
          {empty.length > MAX_SHOWN && (
            <p class="panel-body muted">{count(empty.length - MAX_SHOWN)} more are not shown.</p>
          )}
          {limitNote !== null && <p class="panel-body muted">{limitNote}</p>}
        </section>
      )}
    </>
  );
}
