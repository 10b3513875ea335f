import type { ComponentType } from 'preact';
import type { DashboardPageName } from '../../dashboard-paths.ts';
import type { PageProps } from './page-props.ts';

export interface DashboardPage {
  /** For document.title and the announcement of a navigation. */
  readonly title: string;
  /** The entry of the navigation that is marked as current (shell/navigation.tsx). */
  readonly section: string;
  /** Loads the code of the page, which exports `Page`: one chunk for each group of pages. */
  readonly load: () => Promise<{ readonly Page: ComponentType<PageProps> }>;
}

/** Every page, by the name of its path (dashboard-paths.ts). */
export const PAGES: Readonly<Record<DashboardPageName, DashboardPage>> = {
  heartbeats: {
    title: 'Heartbeats',
    section: 'heartbeats',
    load: () => import('./heartbeats/heartbeats-page.tsx'),
  },
  heartbeat: {
    title: 'Heartbeat',
    section: 'heartbeats',
    load: () => import('./heartbeats/heartbeat-page.tsx'),
  },
  maintenance: {
    title: 'Maintenance',
    section: 'maintenance',
    load: () => import('./maintenance/maintenance-page.tsx'),
  },
  statusPages: {
    title: 'Status pages',
    section: 'statusPages',
    load: () => import('./status-pages/status-pages-page.tsx'),
  },
  statusPage: {
    title: 'Status page',
    section: 'statusPages',
    load: () => import('./status-pages/status-page-page.tsx'),
  },
  incidents: {
    title: 'Incidents',
    section: 'incidents',
    load: () => import('./incidents/incidents-page.tsx'),
  },
  incident: {
    title: 'Incident',
    section: 'incidents',
    load: () => import('./incidents/incident-page.tsx'),
  },
  errorGroups: {
    title: 'Error groups',
    section: 'errorGroups',
    load: () => import('./findings/error-groups-page.tsx'),
  },
  testSessions: {
    title: 'Test sessions',
    section: 'testSessions',
    load: () => import('./findings/test-sessions-page.tsx'),
  },
  testSession: {
    title: 'Test session',
    section: 'testSessions',
    load: () => import('./findings/test-session-page.tsx'),
  },
  analyses: {
    title: 'Root causes',
    section: 'analyses',
    load: () => import('./findings/analyses-page.tsx'),
  },
  analysis: {
    title: 'Root cause',
    section: 'analyses',
    load: () => import('./findings/analysis-page.tsx'),
  },
  certificates: {
    title: 'Certificates',
    section: 'certificates',
    load: () => import('./certificates/certificates-page.tsx'),
  },
  reports: {
    title: 'Reports',
    section: 'reports',
    load: () => import('./reports/reports-page.tsx'),
  },
  snippets: {
    title: 'Snippets',
    section: 'snippets',
    load: () => import('./snippets/snippets-page.tsx'),
  },
  variables: {
    title: 'Variables',
    section: 'variables',
    load: () => import('./variables/variables-page.tsx'),
  },
  locations: {
    title: 'Locations',
    section: 'locations',
    load: () => import('./locations/locations-page.tsx'),
  },
  location: {
    title: 'Location',
    section: 'locations',
    load: () => import('./locations/location-page.tsx'),
  },
  settings: {
    title: 'Account',
    section: 'settings',
    load: () => import('./settings/account-page.tsx'),
  },
  settingsAlerts: {
    title: 'Alert settings',
    section: 'settings',
    load: () => import('./settings/alert-settings-page.tsx'),
  },
  settingsKeys: {
    title: 'API keys',
    section: 'settings',
    load: () => import('./settings/keys-page.tsx'),
  },
  settingsUsers: {
    title: 'Users',
    section: 'settings',
    load: () => import('./settings/users-page.tsx'),
  },
  settingsAudit: {
    title: 'Audit log',
    section: 'settings',
    load: () => import('./settings/audit-page.tsx'),
  },
  settingsSessions: {
    title: 'Your sign-in',
    section: 'settings',
    load: () => import('./settings/sessions-page.tsx'),
  },
  overview: {
    title: 'Overview',
    section: 'overview',
    load: () => import('./overview/overview-page.tsx'),
  },
  check: {
    title: 'Check',
    section: 'overview',
    load: () => import('./check/check-page.tsx'),
  },
  newCheck: {
    title: 'New check',
    section: 'overview',
    load: () => import('./editing/edit-page.tsx'),
  },
  editCheck: {
    title: 'Edit check',
    section: 'overview',
    load: () => import('./editing/edit-page.tsx'),
  },
  checkResult: {
    title: 'Run',
    section: 'overview',
    load: () => import('./check/run/run-page.tsx'),
  },
  alerts: {
    title: 'Alerts',
    section: 'alerts',
    load: () => import('./alerting/alerts/alerts-page.tsx'),
  },
  alert: {
    title: 'Alert',
    section: 'alerts',
    load: () => import('./alerting/alerts/alert-page.tsx'),
  },
  channels: {
    title: 'Alert channels',
    section: 'alerts',
    load: () => import('./alerting/channels/channels-page.tsx'),
  },
  newChannel: {
    title: 'New channel',
    section: 'alerts',
    load: () => import('./alerting/channels/channel-page.tsx'),
  },
  channel: {
    title: 'Channel',
    section: 'alerts',
    load: () => import('./alerting/channels/channel-page.tsx'),
  },
};
