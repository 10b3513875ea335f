import type { Identity } from '../servers/certificates.ts';

export interface BodyParts {
  /** The slug of a private location. */
  readonly slug: string;
  /** The slug of a private location with an agent that makes trials of URL checks. */
  readonly agentSlug: string;
  readonly checkId: string;
  /** The id of a service of status pages. */
  readonly serviceId: string;
  readonly identity: Pick<Identity, 'cert' | 'key'>;
}

/**
 * A body with as few fields as possible for every operation that creates something, in an order in which
 * they can be sent.
 */
export function smallestBodies({
  slug,
  agentSlug,
  checkId,
  serviceId,
  identity,
}: BodyParts): Readonly<Record<string, object>> {
  const name = 'Homepage';
  // Only in a check file may a check have no location.
  const check = { name, privateLocations: [slug] };
  const update = { status: 'INVESTIGATING', description: 'We look into it.' } as const;
  return {
    createCheck: { ...check, checkType: 'URL', request: { url: 'https://example.com/' } },
    createUrlCheck: { ...check, request: { url: 'https://example.com/' } },
    createApiCheck: { ...check, request: { url: 'https://example.com/api' } },
    createTcpCheck: { ...check, request: { hostname: 'example.com', port: 443 } },
    createDnsCheck: { ...check, request: { query: 'example.com' } },
    createIcmpCheck: { ...check, request: { hostname: 'example.com' } },
    createCheckTrial: {
      location: agentSlug,
      check: {
        checkType: 'URL',
        name,
        privateLocations: [agentSlug],
        request: { url: 'https://example.com/' },
      },
    },
    createHeartbeatCheck: {
      name: 'Backup',
      heartbeat: { period: 1, periodUnit: 'DAYS', grace: 1, graceUnit: 'HOURS' },
    },
    createAlertChannel: { type: 'EMAIL', config: { address: 'team@example.com' } },
    createRootCauseAnalysis: { checkId },
    createTestSession: {},
    createCheckGroup: { name: 'Shop' },
    createMaintenanceWindow: {
      name: 'Upgrade',
      startsAt: '2100-01-01T00:00:00Z',
      endsAt: '2100-01-01T01:00:00Z',
      repeatUnit: 'DAY',
    },
    createPrivateLocation: { slug: 'office', name: 'Office' },
    createVariable: { key: 'TOKEN', value: 'a' },
    createClientCertificate: {
      host: 'mtls.example.com',
      cert: identity.cert,
      key: identity.key,
    },
    createSnippet: { name: 'Sign in', script: '1' },
    createStatusPage: { name: 'Status', url: 'example' },
    createStatusPageService: { name: 'API' },
    createStatusPageIncident: {
      name: 'The API is slow',
      severity: 'MINOR',
      services: [serviceId],
      incidentUpdates: [update],
    },
    createStatusPageIncidentUpdate: update,
    createIncident: { name: 'The API is slow', impact: 'MINOR' },
    createIncidentUpdate: update,
    createApiKey: { name: 'Dashboard', role: 'read' },
    createInvitation: { email: 'ada@example.com', role: 'read' },
  };
}
