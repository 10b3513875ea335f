import { useState } from 'preact/hooks';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { count, counted } from '../../parts/formats.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Pager } from '../../parts/pager.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { useUrlState } from '../../shell/url-state.ts';
import './variables.css';
import { DeleteVariable } from './delete-variable.tsx';
import { useVariables, useVariableUses, type Variable, type VariableUse } from './queries.ts';
import { UndefinedVariables } from './undefined-variables.tsx';
import { UsedBy } from './used-by.tsx';
import { VariableDialog } from './variable-dialog.tsx';

const PART = 100;

const USES = [
  { value: 'used', label: 'by checks' },
  { value: 'unused', label: 'by no check' },
] as const;
const KINDS = [
  { value: 'secret', label: 'secret' },
  { value: 'locked', label: 'locked' },
  { value: 'plain', label: 'neither' },
] as const;

/** The open dialog. */
type Open =
  | { readonly kind: 'new'; readonly key: string }
  | { readonly kind: 'edit' | 'delete'; readonly variable: Variable };

/** The variables of the account, and which checks use them. */
export function Page() {
  const variables = useVariables();
  const uses = useVariableUses();
  const [open, setOpen] = useState<Open | null>(null);
  const all = variables.data.value;
  const error = variables.error.value ?? uses.error.value;
  const useOf = new Map(uses.data.value?.uses.map((use) => [use.key, use]));
  const missing = uses.data.value?.uses.filter(({ isDefined }) => !isDefined) ?? [];
  const close = (): void => setOpen(null);
  const isEmpty = all !== null && all.length === 0;
  return (
    <>
      <PageHeader
        title="Variables"
        actions={
          may('admin') &&
          all !== null &&
          !isEmpty && (
            <Button kind="primary" onClick={() => setOpen({ kind: 'new', key: '' })}>
              New variable
            </Button>
          )
        }
      >
        {all !== null && !isEmpty && (
          <span class="muted">
            {counted(all.length, 'variable')}
            {uses.data.value !== null && <Unused all={all} useOf={useOf} />}
          </span>
        )}
      </PageHeader>
      {error !== null && (
        <ErrorState
          error={error}
          retry={() => {
            variables.reload();
            uses.reload();
          }}
        />
      )}
      {missing.length > 0 && (
        <UndefinedVariables
          uses={missing}
          onDefine={may('admin') ? (key) => setOpen({ kind: 'new', key }) : null}
        />
      )}
      {all === null && error === null && (
        <div class="panel">
          <Skeleton lines={8} height={37} label="Loading the variables" />
        </div>
      )}
      {isEmpty && (
        <div class="panel">
          <EmptyState title="There is no variable yet">
            <p>
              A variable is a value that several checks need, such as a host or a token: write{' '}
              <code>{'{{NAME}}'}</code> in the URL, a header or the body of a check. Agents fill it
              in just before they send the request.
            </p>
            {may('admin') ? (
              <p class="variables-first">
                <Button kind="primary" onClick={() => setOpen({ kind: 'new', key: '' })}>
                  New variable
                </Button>
              </p>
            ) : (
              <p>Only admins of the account make them.</p>
            )}
          </EmptyState>
        </div>
      )}
      {all !== null && !isEmpty && (
        <List all={all} useOf={uses.data.value === null ? null : useOf} onOpen={setOpen} />
      )}
      {open?.kind === 'new' && <VariableDialog name={open.key} isNew onClose={close} />}
      {open?.kind === 'edit' && (
        <VariableDialog name={open.variable.key} isNew={false} onClose={close} />
      )}
      {open?.kind === 'delete' && <DeleteVariable variable={open.variable} onClose={close} />}
    </>
  );
}

function Unused({
  all,
  useOf,
}: {
  readonly all: readonly Variable[];
  readonly useOf: ReadonlyMap<string, VariableUse>;
}) {
  const unused = all.filter(({ key }) => !useOf.has(key)).length;
  return unused === 0 ? null : <>, {count(unused)} used by no check</>;
}

function List({
  all,
  useOf,
  onOpen,
}: {
  readonly all: readonly Variable[];
  /** Null if it is not known yet. */
  readonly useOf: ReadonlyMap<string, VariableUse> | null;
  readonly onOpen: (open: Open) => void;
}) {
  const state = useUrlState();
  const [shown, setShown] = useState(PART);
  const [search, use, kind] = ['search', 'use', 'kind'].map((name) => state.get(name));
  const isShown = ({ key, secret, locked }: Variable): boolean =>
    (search == null || key.toLowerCase().includes(search.toLowerCase())) &&
    (use == null || (use === 'used') === (useOf?.has(key) ?? true)) &&
    (kind == null || { secret, locked, plain: !secret && !locked }[kind] === true);
  const rows = all.filter(isShown);
  const columns: readonly Column<Variable>[] = [
    { name: 'key', head: 'Name', cell: ({ key }) => <code class="variables-key">{key}</code> },
    { name: 'value', head: 'Value', cell: (variable) => <Value variable={variable} /> },
    {
      name: 'uses',
      head: 'Used by',
      cell: ({ key }) => (useOf === null ? '…' : <UsedBy use={useOf.get(key) ?? null} />),
    },
    {
      name: 'changed',
      head: 'Changed',
      isOptional: true,
      cell: ({ created_at, updated_at }) => <TimeText at={updated_at ?? created_at} />,
    },
    ...(may('admin') ? [actionsColumn(onOpen)] : []),
  ];
  return (
    <>
      <FilterBar
        search="Search by name"
        filters={[
          { name: 'use', label: 'Used', choices: USES },
          { name: 'kind', label: 'Kind', choices: KINDS },
        ]}
      />
      <section class="panel" aria-label="Variables of the account">
        {rows.length === 0 ? (
          <p class="panel-body muted">No variable matches the filters.</p>
        ) : (
          <Table
            label="Variables of the account"
            columns={columns}
            rows={rows.slice(0, shown)}
            keyOf={({ key }) => key}
          />
        )}
        {rows.length > shown && (
          <Pager
            shown={shown}
            total={rows.length}
            hasMore
            isLoading={false}
            more={() => setShown(shown + PART)}
          />
        )}
      </section>
    </>
  );
}

function Value({ variable: { value, secret, locked } }: { readonly variable: Variable }) {
  if (secret) return <span class="chip">secret, never shown</span>;
  // The API returns it to users who may write, but bystanders should not see it on the screen.
  if (locked) return <span class="chip">locked</span>;
  if (value === '') return <span class="muted">empty</span>;
  return (
    <code class="variables-value" title={value ?? ''}>
      {value}
    </code>
  );
}

function actionsColumn(onOpen: (open: Open) => void): Column<Variable> {
  return {
    name: 'actions',
    head: <span class="visually-hidden">Actions</span>,
    cell: (variable) => (
      <span class="variables-actions">
        <Button
          class="small"
          aria-label={`Edit ${variable.key}`}
          onClick={() => onOpen({ kind: 'edit', variable })}
        >
          Edit
        </Button>
        <Button
          class="small"
          aria-label={`Delete ${variable.key}`}
          onClick={() => onOpen({ kind: 'delete', variable })}
        >
          Delete
        </Button>
      </span>
    ),
  };
}
