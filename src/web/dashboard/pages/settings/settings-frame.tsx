import type { ComponentChildren } from 'preact';
import { DASHBOARD_PATHS, type DashboardPageName } from '../../../dashboard-paths.ts';
import { may, type Role } from '../../api/signed-in-user.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Link } from '../../shell/link.tsx';
import './settings.css';

const ENTRIES: readonly {
  readonly name: DashboardPageName;
  readonly label: string;
  readonly role: Role;
}[] = [
  { name: 'settings', label: 'Account', role: 'read' },
  { name: 'settingsAlerts', label: 'Alert settings', role: 'read' },
  { name: 'settingsKeys', label: 'API keys', role: 'admin' },
  { name: 'settingsUsers', label: 'Users', role: 'admin' },
  { name: 'settingsAudit', label: 'Audit log', role: 'admin' },
  { name: 'settingsSessions', label: 'Your sign-in', role: 'read' },
];

/** A page of the settings, below the tabs of all pages that the user may see. */
export function SettingsFrame({
  current,
  title,
  actions,
  children,
}: {
  readonly current: DashboardPageName;
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const entry = ENTRIES.find(({ name }) => name === current);
  const isAllowed = may(entry?.role ?? 'admin');
  return (
    <>
      <nav class="tabs" aria-label="Settings">
        {ENTRIES.filter(({ role }) => may(role)).map(({ name, label }) => (
          <Link
            to={DASHBOARD_PATHS[name]}
            key={name}
            aria-current={name === current ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      <PageHeader title={title} actions={isAllowed ? actions : undefined} />
      {isAllowed ? (
        children
      ) : (
        <div class="panel">
          <EmptyState title="Only admins of the account see this">
            Ask an admin for the role admin.
          </EmptyState>
        </div>
      )}
    </>
  );
}
