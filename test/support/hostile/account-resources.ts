import type { Identity } from '../servers/certificates.ts';
import { resultOfRun } from '../service/results-fixture.ts';
import { failedDetail } from './account-agent.ts';
import { credentialText, secretUrlText } from './secret-texts.ts';

/** Sends a request that must succeed, and returns the response. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every form
export type AskAs = (method: string, path: string, body?: unknown) => Promise<any>;

export type Ids = Readonly<Record<string, string>>;

interface ResourceParts {
  readonly mark: string;
  readonly accountId: string;
  readonly prefix: string;
  /** The check that is going to fail. */
  readonly checkId: string;
  readonly serviceId: string;
  readonly identity: Identity;
}

/**
 * Everything that an account can have besides checks and what they need, before its agents work.
 * Avoids resources that change by themselves.
 */
export async function createResources(ask: AskAs, parts: ResourceParts) {
  const { mark, prefix, checkId } = parts;
  const heartbeat = `${prefix}-heartbeat`;
  const { heartbeat: pinged } = await ask('PUT', `/v1/checks/heartbeats/${heartbeat}`, {
    name: mark,
    description: mark,
    // The longest interval: nothing is due while the tests run.
    heartbeat: { period: 365, periodUnit: 'DAYS', grace: 365, graceUnit: 'DAYS' },
  });
  await ask('POST', `/heartbeat/${pinged.pingToken}`);
  const channel = await ask('POST', '/v1/alert-channels', {
    type: 'EMAIL',
    // No mail is sent here: its deliveries have already failed permanently.
    config: { address: `${mark}@a.test` },
    sendDegraded: true,
    sslExpiry: true,
    subscriptions: [{ checkId }],
  });
  const pair = { key: 'x-mark', value: credentialText(mark), locked: true };
  const token = { key: 'x-token', value: secretUrlText(mark) };
  const slack = { url: `https://hooks.test/services/${secretUrlText(mark)}` };
  await ask('POST', '/v1/alert-channels', { type: 'SLACK', config: slack });
  const webhook = await ask('POST', '/v1/alert-channels', {
    type: 'WEBHOOK',
    config: {
      name: mark,
      url: `http://a.test/${secretUrlText(mark)}?a=${secretUrlText(mark)}`,
      template: mark,
      headers: [pair, token],
      queryParameters: [pair, token],
      webhookSecret: credentialText(mark),
    },
    // Its check never fails.
    subscriptions: [{ checkId: `${prefix}-icmp` }],
  });
  await ask('PUT', `/v1/accounts/${parts.accountId}/alert-settings`, {});
  const window = await ask('POST', '/v1/maintenance-windows', {
    name: mark,
    tags: [mark],
    silenceAlertsTags: [mark],
    startsAt: '2100-01-01T00:00:00Z',
    endsAt: '2100-01-01T01:00:00Z',
    repeatUnit: 'DAY',
  });
  const snippet = await ask('POST', '/v1/snippets', { name: mark, script: `// ${mark}` });
  const variable = `KEY_OF_${prefix.replaceAll('-', '_')}`;
  await ask('POST', '/v1/variables', { key: variable, value: credentialText(mark), secret: true });
  const certificate = await ask('POST', '/v1/client-certificates', {
    host: `${prefix}.a.test`,
    ...parts.identity,
  });
  return {
    heartbeat,
    pingToken: String(pinged.pingToken),
    channel: String(channel.id),
    webhook: String(webhook.id),
    window: String(window.id),
    snippet: String(snippet.id),
    variable,
    certificate: String(certificate.id),
    session: await makeSession(ask, parts),
    project: projectOf(prefix),
    ...(await makePages(ask, parts)),
  };
}

async function makePages(ask: AskAs, { mark, prefix, serviceId }: ResourceParts) {
  const page = await ask('POST', '/v1/status-pages', {
    name: mark,
    url: `${prefix}-page`,
    customDomain: `${prefix}.status.test`,
    description: mark,
    cards: [{ name: mark, services: [serviceId] }],
  });
  const incidentUpdates = [{ status: 'INVESTIGATING', description: mark }];
  const pageIncident = await ask('POST', '/v1/status-pages/incidents', {
    name: mark,
    severity: 'MINOR',
    services: [serviceId],
    postMortem: mark,
    incidentUpdates,
  });
  const incident = await ask('POST', '/v1/incidents', {
    name: mark,
    impact: 'MINOR',
    incidentUpdates,
  });
  return {
    page: String(page.id),
    pageIncident: String(pageIncident.id),
    pageIncidentUpdate: String(pageIncident.incidentUpdates[0].id),
    incident: String(incident.id),
    incidentUpdate: String(incident.incidentUpdates[0].id),
  };
}

async function makeSession(ask: AskAs, { mark, prefix, checkId }: ResourceParts): Promise<string> {
  const slot = Math.floor(Date.now() / 1000) * 1000 - 90_000;
  const run = { checkId, slot, runLocation: 'local', name: mark };
  const session = await ask('POST', '/v1/test-sessions', {
    name: mark,
    projectId: projectOf(prefix),
    environment: mark,
    results: [resultOfRun({ ...run, hasFailures: true, apiCheckResult: failedDetail(mark) })],
  });
  return session.id;
}

/** The ids of the rows that its agents' work created. */
export async function findCreatedIds(
  ask: AskAs,
  of: {
    readonly checkId: string;
    readonly result: string;
    readonly heartbeat: string;
    readonly project: string;
  },
) {
  const [artifact] = await ask('GET', `/v1/check-results/${of.checkId}/${of.result}/artifacts`);
  const [event] = await ask('GET', `/v1/checks/heartbeats/${of.heartbeat}/events`);
  const [alert] = await ask('GET', `/v1/check-alerts?checkId=${of.checkId}&open=true`);
  const [delivery] = await ask('GET', `/v1/check-alerts/${alert.id}/deliveries`);
  const [errorGroup] = await ask('GET', `/v1/error-groups?checkId=${of.checkId}`);
  const projects = '/v1/test-session-error-groups/projects';
  const [sessionErrorGroup] = await ask('GET', `${projects}/${of.project}`);
  const analysis = await ask('POST', '/v1/root-cause-analyses', { checkId: of.checkId });
  return {
    artifact: String(artifact.id),
    heartbeatEvent: String(event.id),
    alert: String(alert.id),
    delivery: String(delivery.id),
    errorGroup: String(errorGroup.id),
    sessionErrorGroup: String(sessionErrorGroup.id),
    analysis: String(analysis.id),
  };
}

function projectOf(prefix: string): string {
  return `${prefix}-project`;
}
