/**
 * The paths of the dashboard's pages, by name: the service answers them with the dashboard, which shows the
 * page of that name (dashboard/pages/index.ts). `:name` matches one part of a path.
 */
export const DASHBOARD_PATHS = {
  overview: '/',
  alerts: '/alerts',
  alert: '/alerts/:alertId',
  channels: '/channels',
  newChannel: '/channels/new',
  channel: '/channels/:channelId',
  locations: '/locations',
  location: '/locations/:id',
  newCheck: '/checks/new',
  check: '/checks/:id',
  editCheck: '/checks/:id/edit',
  checkResult: '/checks/:id/results/:resultId',
  heartbeats: '/heartbeats',
  heartbeat: '/heartbeats/:id',
  maintenance: '/maintenance',
  statusPages: '/status-pages',
  statusPage: '/status-pages/:id',
  incidents: '/incidents',
  incident: '/incidents/:id',
  reports: '/reports',
  variables: '/variables',
  certificates: '/certificates',
  snippets: '/snippets',
  errorGroups: '/error-groups',
  testSessions: '/test-sessions',
  testSession: '/test-sessions/:id',
  analyses: '/analyses',
  analysis: '/analyses/:id',
  settings: '/settings',
  settingsAlerts: '/settings/alerts',
  settingsKeys: '/settings/keys',
  settingsUsers: '/settings/users',
  settingsAudit: '/settings/audit-log',
  settingsSessions: '/settings/sign-in',
} as const;

export type DashboardPageName = keyof typeof DASHBOARD_PATHS;
