import { count } from '../../parts/formats.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { shortId } from './agents-panel.tsx';
import { type AgentError, useAgentErrors } from './queries.ts';

const COLUMNS: readonly Column<AgentError>[] = [
  {
    name: 'error',
    head: 'Error',
    cell: (error) => (
      <code>
        {error.class}
        {error.code === null ? '' : ` ${error.code}`}
      </code>
    ),
  },
  {
    name: 'agent',
    head: 'Agent',
    cell: ({ agentId }) => <code title={agentId}>{shortId(agentId)}</code>,
  },
  { name: 'version', head: 'Version', cell: ({ version, node }) => `${version}, Node ${node}` },
  { name: 'count', head: 'Times', isNumber: true, cell: (error) => count(error.count) },
  { name: 'last', head: 'Last', cell: ({ lastSeen }) => <TimeText at={lastSeen} /> },
];

/** Errors of the agents themselves. Shows nothing if there are none. */
export function AgentErrorsPanel({ locationId }: { readonly locationId: string }) {
  const errors = useAgentErrors(locationId).data.value;
  if (errors === null || errors.entries.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="locations-errors">
      <div class="panel-head">
        <h2 id="locations-errors">Errors of the agents</h2>
        <span class="muted">Faults of the agents themselves; please report them.</span>
      </div>
      <Table
        label="Errors of the agents"
        columns={COLUMNS}
        rows={errors.entries}
        keyOf={({ id }) => String(id)}
      />
    </section>
  );
}
