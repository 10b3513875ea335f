import { useState } from 'preact/hooks';
import { api, bodyOf } from '../../api/client.ts';
import type { Query } from '../../api/query.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Menu, MenuItem, MenuLink } from '../../parts/menu.tsx';
import { showToast } from '../../parts/toast.tsx';
import { useAction } from '../../parts/use-action.ts';
import { addressOf, Link } from '../../shell/link.tsx';
import { type AnyCheck, type Check, checkPath } from './model.ts';
import { commandOf } from './request-command.ts';

type Opened = { readonly title: string; readonly text: string } | null;

/** The actions on a check that the role of the user allows. */
export function CheckActions({
  check,
  query,
  onRun,
}: {
  readonly check: Check;
  readonly query: Query<AnyCheck>;
  /** Null: the first location that has a connected agent. */
  readonly onRun: (location: string | null) => void;
}) {
  const [opened, open] = useState<Opened>(null);
  const locations = check.privateLocations ?? [];
  const command = commandOf(check);

  const params = { path: { id: check.id } };
  const change = useAction(
    async (
      changes: Readonly<Record<string, boolean>>,
      done: string,
      undo: Readonly<Record<string, boolean>> | null,
    ) => {
      query.set(await bodyOf(api.PATCH('/v1/checks/{id}', { params, body: changes })));
      showToast({
        kind: 'plain',
        text: done,
        ...(undo === null
          ? {}
          : { action: { label: 'Undo', run: () => change.run(undo, 'Undone.', null) } }),
      });
    },
  );
  const toggle = (
    field: 'activated' | 'muted',
    words: readonly [on: string, off: string],
  ): void => {
    const isOn = !check[field];
    change.run({ [field]: isOn }, isOn ? words[0] : words[1], { [field]: !isOn });
  };
  const openCheckFile = useAction(async () => {
    const { data } = await api.GET('/v1/checks/{id}/check-file', { params, parseAs: 'text' });
    open({ title: 'This check as a check file', text: data ?? '' });
  });

  return (
    <>
      {may('write') && (
        <>
          <Button
            isBusy={change.isBusy}
            onClick={() =>
              toggle('activated', [
                'The check runs again from its next slot on.',
                'The check is paused: it does not run.',
              ])
            }
          >
            {check.activated ? 'Pause' : 'Resume'}
          </Button>
          <Button
            isBusy={change.isBusy}
            onClick={() =>
              toggle('muted', [
                'The check is muted: it sends no alerts.',
                'The check sends alerts.',
              ])
            }
          >
            {check.muted ? 'Unmute' : 'Mute'}
          </Button>
          <Link class="button" to={`${checkPath(check.id)}/edit`}>
            Edit
          </Link>
        </>
      )}
      <Menu label="More" buttonClass="button" position="below-end">
        {may('write') && (
          <MenuLink href={addressOf(`/checks/new?from=${encodeURIComponent(check.id)}`)}>
            Duplicate…
          </MenuLink>
        )}
        <MenuItem onSelect={() => openCheckFile.run()}>Copy as YAML…</MenuItem>
        <MenuItem
          onSelect={() => open({ title: `This check as ${command.tool}`, text: command.text })}
        >
          Copy as {command.tool}…
        </MenuItem>
      </Menu>
      {may('run') &&
        (locations.length > 1 ? (
          <Menu label="Run now" buttonClass="button primary" position="below-end">
            <MenuItem onSelect={() => onRun(null)}>At any location</MenuItem>
            {locations.map((location) => (
              <MenuItem key={location} onSelect={() => onRun(location)}>
                At {location}
              </MenuItem>
            ))}
          </Menu>
        ) : (
          <Button kind="primary" onClick={() => onRun(null)}>
            Run now
          </Button>
        ))}
      {opened !== null && (
        <Dialog title={opened.title} onClose={() => open(null)}>
          <Copyable text={opened.text} isBlock />
          <p class="check-note muted">
            Hidden values are not in it, and templates such as {'{{NAME}}'} are not filled in.
          </p>
        </Dialog>
      )}
    </>
  );
}
