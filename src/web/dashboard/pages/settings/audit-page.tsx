import { api, pageOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { may } from '../../api/signed-in-user.ts';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { counted } from '../../parts/formats.ts';
import { ListPanel } from '../../parts/lists/list-panel.tsx';
import { PAGE_SIZE, useList } from '../../parts/lists/use-list.ts';
import type { Column } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { useUrlState } from '../../shell/url-state.ts';
import { SettingsFrame } from './settings-frame.tsx';

type Entry = components['schemas']['AuditEntry'];

/** Names as keys, so that the compiler reports a missing name when the API adds one. */
const namesOf = <Name extends string>(names: Readonly<Record<Name, true>>): readonly Name[] =>
  Object.keys(names) as Name[];
const KINDS = namesOf({
  check: true,
  'check-group': true,
  'check-group-run': true,
  'check-run': true,
  'check-trial': true,
  'alert-channel': true,
  'check-alert': true,
  account: true,
  'alert-settings': true,
  'maintenance-window': true,
  'private-location': true,
  'location-key': true,
  agent: true,
  variable: true,
  'client-certificate': true,
  snippet: true,
  'status-page': true,
  'status-page-service': true,
  'status-page-subscriber': true,
  'status-page-incident': true,
  incident: true,
  'error-group': true,
  'test-session-error-group': true,
  'test-session': true,
  'api-key': true,
  user: true,
  invitation: true,
} satisfies Record<Entry['kind'], true>);
const ACTIONS = namesOf({
  create: true,
  update: true,
  delete: true,
  revoke: true,
  rotate: true,
  end: true,
  cancel: true,
  allow: true,
  acknowledge: true,
  unacknowledge: true,
  setup: true,
  join: true,
  'sign-in': true,
  'sign-in-failed': true,
  'sign-out': true,
  'sign-out-everywhere': true,
  'password-change': true,
  'password-link': true,
} satisfies Record<Entry['action'], true>);
const words = (value: string): string => value.replaceAll('-', ' ');
const choicesOf = (values: readonly string[]) =>
  values.map((value) => ({ value, label: words(value) }));
const HOURS = { '1h': 1, '24h': 24, '7d': 168, '30d': 720 } as const;

/** Who changed what, with the values before and after. */
export function Page() {
  return (
    <SettingsFrame current="settingsAudit" title="Audit log">
      {may('admin') && <Log />}
    </SettingsFrame>
  );
}

function Log() {
  const state = useUrlState();
  const kind = KINDS.find((each) => each === state.get('kind'));
  const action = ACTIONS.find((each) => each === state.get('action'));
  const since = state.get('since');
  const actor = state.get('search');
  const key = `audit-log?${JSON.stringify({ kind, action, since, actor })}`;
  const list = useList<Entry>(key, (page, signal) => {
    const hours = Object.entries(HOURS).find(([name]) => name === since)?.[1];
    const query = {
      limit: PAGE_SIZE,
      page,
      ...(kind === undefined ? {} : { kind }),
      ...(action === undefined ? {} : { action }),
      ...(actor === null ? {} : { actor }),
      ...(hours === undefined ? {} : { from: Math.floor(Date.now() / 1_000) - hours * 3_600 }),
    };
    return pageOf(api.GET('/v1/audit-log', { params: { query }, signal }));
  });
  return (
    <>
      <FilterBar
        search="Who: email or key"
        filters={[
          { name: 'kind', label: 'What', choices: choicesOf(KINDS) },
          { name: 'action', label: 'Action', choices: choicesOf(ACTIONS) },
          {
            name: 'since',
            label: 'Time',
            choices: [
              { value: '1h', label: 'Last hour' },
              { value: '24h', label: 'Last 24 hours' },
              { value: '7d', label: 'Last 7 days' },
              { value: '30d', label: 'Last 30 days' },
            ],
          },
        ]}
      />
      <ListPanel
        title="Changes, newest first"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => String(id)}
        empty="Nothing has been changed, or nothing that the filters show."
      />
    </>
  );
}

const ACTORS = {
  user: '',
  key: 'key',
  channel: 'link in a message',
  setup: 'setup link',
  operator: 'operator of the service',
  unknown: 'unknown',
} as const;

const COLUMNS: readonly Column<Entry>[] = [
  { name: 'at', head: 'When', cell: ({ at }) => <TimeText at={at} form="full" /> },
  {
    name: 'who',
    head: 'Who',
    cell: ({ actor, address }) => (
      <span class="settings-two">
        <span>
          {actor.name ?? ACTORS[actor.kind]}
          {actor.name !== null && ACTORS[actor.kind] !== '' && (
            <span class="chip settings-chip">{ACTORS[actor.kind]}</span>
          )}
        </span>
        {address !== null && <code class="muted">{address}</code>}
      </span>
    ),
  },
  {
    name: 'action',
    head: 'Action',
    cell: ({ action, count }) =>
      `${words(action)}${count > 1 ? `, ${counted(count, 'time')}` : ''}`,
  },
  {
    name: 'what',
    head: 'What',
    cell: ({ kind, resourceName, resourceId }) => (
      <span class="settings-two">
        <span>{resourceName ?? resourceId ?? ''}</span>
        <span class="muted">{words(kind)}</span>
      </span>
    ),
  },
  { name: 'changes', head: 'Changes', cell: (entry) => <Changes entry={entry} /> },
];

function Changes({ entry: { changes, droppedChanges } }: { readonly entry: Entry }) {
  if (changes.length === 0) return null;
  const total = changes.length + droppedChanges;
  return (
    <details class="settings-changes">
      <summary>{counted(total, 'field')}</summary>
      <dl>
        {changes.map(({ field, before, after }) => (
          <div key={field}>
            <dt>
              <code>{field}</code>
            </dt>
            <dd>
              {before !== undefined && <del>{text(before)}</del>}{' '}
              {after !== undefined && <ins>{text(after)}</ins>}
            </dd>
          </div>
        ))}
      </dl>
      {droppedChanges > 0 && (
        <p class="muted">{counted(droppedChanges, 'field')} more is not kept.</p>
      )}
    </details>
  );
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
