import { useState } from 'preact/hooks';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { useShownOnce } from '../../parts/forms/use-unsaved-guard.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { MonitoringProblems } from '../../parts/problems/monitoring-problems.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Link } from '../../shell/link.tsx';
import { useTitle } from '../../shell/title.ts';
import type { PageProps } from '../page-props.ts';
import { AgentErrorsPanel } from './agent-errors-panel.tsx';
import { AgentsPanel } from './agents-panel.tsx';
import { DeleteLocation } from './delete-location.tsx';
import { EditLocation } from './edit-location.tsx';
import { KeysPanel, type NewKey } from './keys-panel.tsx';
import { LocationFacts } from './location-facts.tsx';
import { LocationMark } from './location-mark.tsx';
import './locations.css';
import { REPORT_MS, useAgents, useLocation, useLocationStatus } from './queries.ts';
import { StartPanel } from './start-panel.tsx';
import { useRefresh } from './use-refresh.ts';

/** One private location: its agents, how to start one, and their keys. */
export function Page({ params: { id = '' } }: PageProps) {
  const location = useLocation(id);
  const status = useLocationStatus(id);
  const agents = useAgents(id);
  const [dialog, setDialog] = useState<'edit' | 'delete' | null>(null);
  /** The new key. It cannot be read again after the page is left. */
  const [newKey, setNewKey] = useState<NewKey | null>(null);
  useShownOnce(newKey !== null);
  useRefresh(status, REPORT_MS);
  useRefresh(agents, REPORT_MS);
  const shown = location.data.value;
  const how = status.data.value;
  useTitle(shown?.name ?? null);
  const error = location.error.value ?? status.error.value;
  return (
    <>
      <p class="locations-back">
        <Link to="/locations">Locations</Link>
      </p>
      <PageHeader
        title={shown?.name ?? 'Location'}
        actions={
          shown !== null &&
          may('write') && (
            <>
              <Button onClick={() => setDialog('edit')}>Edit</Button>
              <Button kind="danger" onClick={() => setDialog('delete')}>
                Delete
              </Button>
            </>
          )
        }
      >
        {how !== null && <LocationMark state={how.state} />}
        {shown !== null && <code class="muted">{shown.slug}</code>}
      </PageHeader>
      {error !== null && (
        <ErrorState
          error={error}
          retry={() => {
            location.reload();
            status.reload();
          }}
        />
      )}
      {error === null && how === null && (
        <div class="panel">
          <Skeleton lines={2} height={36} label="Loading the location" />
        </div>
      )}
      {how !== null && shown !== null && (
        <>
          <MonitoringProblems filter={{ locationId: id }} />
          <LocationFacts status={how} location={shown} />
          <StartPanel
            locationId={id}
            agents={agents.data.value?.entries ?? null}
            newKey={newKey}
            onNewKey={setNewKey}
            isFirst={how.state === 'new'}
          />
          <AgentsPanel locationId={id} agents={agents} />
          <KeysPanel locationId={id} newKey={newKey} onNewKey={setNewKey} />
          <AgentErrorsPanel locationId={id} />
        </>
      )}
      {dialog === 'edit' && shown !== null && (
        <EditLocation id={shown.id} onClose={() => setDialog(null)} />
      )}
      {dialog === 'delete' && shown !== null && (
        <DeleteLocation location={shown} status={how} onClose={() => setDialog(null)} />
      )}
    </>
  );
}
