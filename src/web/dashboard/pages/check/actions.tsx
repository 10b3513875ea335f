import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, bodyOf } from '../../api/client.ts';
import { type ApiError, asApiError } from '../../api/errors.ts';
import type { Query } from '../../api/query.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FormError, problemOf, TextField } from '../../parts/field.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { showToast } from '../../parts/toast.tsx';
import { addressOf } from '../../shell/link.tsx';
import { type AnyCheck, type Check, checkPath } from './model.ts';
import { commandOf } from './request-command.ts';

type Opened =
  | { readonly kind: 'text'; readonly title: string; readonly text: string }
  | { readonly kind: 'duplicate' }
  | null;

/** What a user may do with a check: the role decides what is shown. */
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
  const [isBusy, setBusy] = useState(false);
  const locations = check.privateLocations ?? [];
  const command = commandOf(check);

  const change = async (
    changes: Readonly<Record<string, boolean>>,
    done: string,
    undo: Readonly<Record<string, boolean>> | null,
  ): Promise<void> => {
    setBusy(true);
    try {
      const changed = await bodyOf(
        api.PATCH('/v1/checks/{id}', { params: { path: { id: check.id } }, body: changes }),
      );
      query.set(changed);
      showToast({
        kind: 'plain',
        text: done,
        ...(undo === null
          ? {}
          : { action: { label: 'Undo', run: () => void change(undo, 'Undone.', null) } }),
      });
    } catch (error) {
      showToast({ kind: 'fail', text: asApiError(error).message });
    } finally {
      setBusy(false);
    }
  };
  const toggle = (
    field: 'activated' | 'muted',
    words: readonly [on: string, off: string],
  ): void => {
    const isOn = !check[field];
    void change({ [field]: isOn }, isOn ? words[0] : words[1], { [field]: !isOn });
  };
  const openCheckFile = async (): Promise<void> => {
    try {
      const { data } = await api.GET('/v1/checks/{id}/check-file', {
        params: { path: { id: check.id } },
        parseAs: 'text',
      });
      open({ kind: 'text', title: 'This check as a check file', text: data ?? '' });
    } catch (error) {
      showToast({ kind: 'fail', text: asApiError(error).message });
    }
  };

  return (
    <>
      {may('write') && (
        <>
          <Button
            isBusy={isBusy}
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
            isBusy={isBusy}
            onClick={() =>
              toggle('muted', [
                'The check is muted: it sends no alerts.',
                'The check sends alerts.',
              ])
            }
          >
            {check.muted ? 'Unmute' : 'Mute'}
          </Button>
        </>
      )}
      <Menu label="More" buttonClass="button" place="below-end">
        {may('write') && (
          <MenuItem onSelect={() => open({ kind: 'duplicate' })}>Duplicate…</MenuItem>
        )}
        <MenuItem onSelect={() => void openCheckFile()}>Copy as YAML…</MenuItem>
        <MenuItem
          onSelect={() =>
            open({ kind: 'text', title: `This check as ${command.tool}`, text: command.text })
          }
        >
          Copy as {command.tool}…
        </MenuItem>
      </Menu>
      {may('run') &&
        (locations.length > 1 ? (
          <Menu label="Run now" buttonClass="button primary" place="below-end">
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
      {opened?.kind === 'text' && (
        <Dialog title={opened.title} onClose={() => open(null)}>
          <Copyable text={opened.text} isBlock />
          <p class="check-note muted">
            Hidden values are not in it, and templates such as {'{{NAME}}'} are not filled in.
          </p>
        </Dialog>
      )}
      {opened?.kind === 'duplicate' && <Duplicate check={check} onClose={() => open(null)} />}
    </>
  );
}

/** Fields that the service makes itself. */
const NOT_COPIED = [
  'id',
  'created_at',
  'createdAt',
  'updated_at',
  'updatedAt',
  'alertChannels',
  'warnings',
  'logicalId',
];

function Duplicate({ check, onClose }: { readonly check: Check; readonly onClose: () => void }) {
  const { route } = useLocation();
  const [name, setName] = useState(`Copy of ${check.name}`.slice(0, 255));
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const create = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const fields = Object.entries(check).filter(([field]) => !NOT_COPIED.includes(field));
      const body = { ...Object.fromEntries(fields), name, activated: false };
      const made = await bodyOf(api.POST('/v1/checks', { body: body as never }));
      onClose();
      route(addressOf(checkPath(made.id)));
      showToast({ kind: 'pass', text: 'The copy is made. It is paused until you resume it.' });
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="Duplicate this check"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" isBusy={isBusy} onClick={() => void create()}>
            Duplicate
          </Button>
        </>
      }
    >
      <TextField
        label="Name"
        value={name}
        onValue={setName}
        problem={error === null ? null : problemOf(error.problems, 'name')}
        hint="The copy has all settings of the check and begins paused. Hidden values cannot be copied."
      />
      <FormError error={error} fields={['name']} />
    </Dialog>
  );
}
