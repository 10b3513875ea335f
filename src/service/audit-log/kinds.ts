/** The kind of a resource in the audit log by the path of its routes. The longest matching path counts. */
const KINDS_BY_PATH = {
  '/v1/checks': 'check',
  '/v1/check-groups': 'check-group',
  '/v1/check-group-runs': 'check-group-run',
  '/v1/check-runs': 'check-run',
  '/v1/check-trials': 'check-trial',
  '/v1/alert-channels': 'alert-channel',
  '/v1/check-alerts': 'check-alert',
  '/v1/accounts/:accountId': 'account',
  '/v1/accounts/:accountId/alert-settings': 'alert-settings',
  '/v1/maintenance-windows': 'maintenance-window',
  '/v1/private-locations': 'private-location',
  '/v1/private-locations/:id/keys': 'location-key',
  '/v1/private-locations/:id/agents': 'agent',
  '/v1/variables': 'variable',
  '/v1/client-certificates': 'client-certificate',
  '/v1/snippets': 'snippet',
  '/v1/status-pages': 'status-page',
  '/v1/status-pages/services': 'status-page-service',
  '/v1/status-pages/:statusPageId/subscribers': 'status-page-subscriber',
  '/v1/status-pages/incidents': 'status-page-incident',
  '/v1/incidents': 'incident',
  '/v1/error-groups': 'error-group',
  '/v1/test-session-error-groups': 'test-session-error-group',
  '/v1/test-sessions': 'test-session',
  '/v1/api-keys': 'api-key',
  '/v1/users': 'user',
  '/v1/invitations': 'invitation',
} as const;

export type AuditKind = (typeof KINDS_BY_PATH)[keyof typeof KINDS_BY_PATH];
export const AUDIT_KINDS = Object.values(KINDS_BY_PATH);

/** null if no resource has such a path. */
export function kindOfPath(url: string): AuditKind | null {
  const found = Object.entries(KINDS_BY_PATH)
    .filter(([path]) => url === path || url.startsWith(`${path}/`))
    .sort(([one], [other]) => other.length - one.length);
  return found[0]?.[1] ?? null;
}

/** What was done. A sign-in, and what follows it, is of the kind `user`. */
export const AUDIT_ACTIONS = [
  'create',
  'update',
  'delete',
  'revoke',
  'rotate',
  'end',
  'cancel',
  'allow',
  'acknowledge',
  'unacknowledge',
  'setup',
  'join',
  'sign-in',
  'sign-in-failed',
  'sign-out',
  'sign-out-everywhere',
  'password-change',
  'password-link',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who did it. `channel` is anyone who used the link in a message to an alert channel, `operator` a command on the machine of the service or the link of `vedette up`, `setup` the setup link of the service. */
export const ACTOR_KINDS = ['user', 'key', 'channel', 'setup', 'operator', 'unknown'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];
