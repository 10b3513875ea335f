import { Button } from '../../parts/button.tsx';
import { StateMark } from '../../parts/states/state-mark.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import type { VariableUse } from './queries.ts';
import { UsedBy } from './used-by.tsx';

/** The most names to show, so that a check that names thousands by mistake does not fill the page. */
const MAX_SHOWN = 50;

/** Variables that checks name and the account does not have. */
export function UndefinedVariables({
  uses,
  onDefine,
}: {
  readonly uses: readonly VariableUse[];
  /** Null if the user may not create variables. */
  readonly onDefine: ((key: string) => void) | null;
}) {
  const columns: readonly Column<VariableUse>[] = [
    { name: 'key', head: 'Name', cell: ({ key }) => <code class="variables-key">{key}</code> },
    { name: 'uses', head: 'Used by', cell: (use) => <UsedBy use={use} /> },
  ];
  const define: Column<VariableUse> = {
    name: 'define',
    head: <span class="visually-hidden">Actions</span>,
    cell: ({ key }) => (
      <span class="variables-actions">
        <Button class="small" aria-label={`Define ${key}`} onClick={() => onDefine?.(key)}>
          Define
        </Button>
      </span>
    ),
  };
  return (
    <section class="panel variables-missing" aria-label="Undefined variables">
      <div class="panel-head">
        <h2>
          <StateMark state="degraded" word="Undefined variables" />
        </h2>
      </div>
      <p class="panel-body muted">
        Checks name these, and the account has no such variable. Unless their agents have it, in
        VARIABLES_FROM_ENV or VARIABLES_DIR, their runs fail with VARIABLE_UNKNOWN.
      </p>
      <Table
        label="Undefined variables"
        columns={onDefine === null ? columns : [...columns, define]}
        rows={uses.slice(0, MAX_SHOWN)}
        keyOf={({ key }) => key}
      />
      {uses.length > MAX_SHOWN && (
        <p class="panel-body muted">{uses.length - MAX_SHOWN} more are not shown.</p>
      )}
    </section>
  );
}
