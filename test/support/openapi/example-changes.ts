import type { Identity } from '../servers/certificates.ts';

/**
 * A body for every operation that changes something, by the name of what it changes: `Snippet` of `putSnippet`
 * and `updateSnippet`. Each is a change that a user would make.
 */
export function exampleChanges(
  identity: Pick<Identity, 'cert' | 'key'>,
): Readonly<Record<string, object>> {
  const archive = { archivedUntilNextEvent: true };
  const update = { description: 'A fix is on its way.' };
  return {
    Check: { frequency: 5, tags: ['shop'] },
    UrlCheck: { frequency: 5, degradedResponseTime: 1000 },
    ApiCheck: { retryStrategy: { type: 'FIXED', maxRetries: 2 } },
    TcpCheck: { description: 'The mail server of the shop', tags: ['mail'] },
    DnsCheck: { muted: true },
    IcmpCheck: { activated: false },
    HeartbeatCheck: {
      heartbeat: { period: 2, periodUnit: 'HOURS', grace: 15, graceUnit: 'MINUTES' },
    },
    Account: { name: 'Example Inc.', timeZone: 'Europe/Berlin' },
    AlertSettings: { reminders: { amount: 2, interval: 10 } },
    AlertChannel: { sendDegraded: false, sslExpiry: true, sslExpiryThreshold: 14 },
    ErrorGroup: archive,
    TestSessionErrorGroup: archive,
    CheckGroup: { concurrency: 2, tags: ['shop'] },
    MaintenanceWindow: { name: 'Upgrade of the database', endsAt: '2100-01-01T02:00:00Z' },
    PrivateLocation: { name: 'Office in Berlin' },
    Variable: { value: 'b' },
    ClientCertificate: { cert: identity.cert, key: identity.key },
    Snippet: { name: 'Sign in to the shop' },
    StatusPage: { name: 'Status of the shop', defaultTheme: 'DARK' },
    StatusPageService: { name: 'Web shop', checkTags: ['shop'] },
    StatusPageIncident: { severity: 'MAJOR' },
    StatusPageIncidentUpdate: update,
    Incident: { impact: 'MAJOR' },
    IncidentUpdate: update,
    User: { role: 'admin' },
  };
}

/** `Snippet` of `putSnippet` and `updateSnippet`. */
export function changedBy(operationId: string): string {
  return operationId.replace(/^(put|update)/, '');
}
