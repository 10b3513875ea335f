import { randomUUID } from 'node:crypto';
import { resultOfRun } from '../service/results-fixture.ts';
import { artifactOf, errorsOf, failedDetail, pollOf } from './account-agent.ts';
import { PASSWORD } from './account-user.ts';
import type { FullAccount } from './full-account.ts';

export const REQUESTS: Readonly<Record<string, object>> = {
  url: { url: 'https://a.test/' },
  api: { url: 'https://a.test/', method: 'GET' },
  tcp: { hostname: 'a.test', port: 22 },
  dns: { query: 'a.test', recordType: 'A' },
  icmp: { hostname: 'a.test' },
};

/**
 * A valid body for POST, and for PUT or PATCH if they differ. Each POST creates another resource.
 */
type Make = (account: FullAccount, isNew: boolean) => unknown;

const UPDATE = { status: 'MONITORING', description: 'An update' };

/** By route. */
const BODIES: Readonly<Record<string, Make>> = {
  '/v1/checks': checkOf('url'),
  '/v1/checks/url': checkOf('url'),
  '/v1/checks/api': checkOf('api'),
  '/v1/checks/tcp': checkOf('tcp'),
  '/v1/checks/dns': checkOf('dns'),
  '/v1/checks/icmp': checkOf('icmp'),
  '/v1/checks/heartbeats': () => ({
    name: 'A job',
    heartbeat: { period: 1, periodUnit: 'DAYS', grace: 1, graceUnit: 'HOURS' },
  }),
  // The route lets everyone in who may run checks; its other actions need a higher role.
  '/v1/checks/bulk': ({ checkIds, slug }) => ({
    action: 'run',
    ids: [checkIds.url],
    location: slug,
  }),
  '/v1/checks/:id/run': ({ slug }) => ({ location: slug }),
  '/v1/check-groups/:id/run': ({ slug }) => ({ location: slug }),
  '/v1/check-trials': ({ labSlug }) => trialOf(labSlug),
  '/v1/check-groups': ({ slug }) => ({ name: 'A group', privateLocations: [slug] }),
  '/v1/private-locations': (_, isNew) => ({
    name: 'A place',
    ...(isNew ? { slug: fresh('place') } : {}),
  }),
  '/v1/accounts/:accountId': () => ({ timeZone: 'Europe/Berlin' }),
  '/v1/accounts/:accountId/alert-settings': () => ({ escalationType: 'RUN_BASED' }),
  '/v1/alert-channels': () => ({
    type: 'WEBHOOK',
    config: {
      name: 'A hook',
      url: 'http://a.test/',
      headers: [{ key: 'x-a', value: 'a' }],
      queryParameters: [{ key: 'a', value: 'a' }],
    },
  }),
  '/v1/alert-channels/preview': () => ({ type: 'EMAIL', titleTemplate: '{{CHECK_NAME}}' }),
  '/v1/alert-channels/:id/compare': () => ({
    config: { name: 'A hook', url: 'http://a.test/' },
  }),
  '/v1/maintenance-windows': () => ({
    name: 'A window',
    startsAt: '2100-01-01T00:00:00Z',
    endsAt: '2100-01-01T01:00:00Z',
    repeatUnit: 'DAY',
  }),
  '/v1/error-groups': () => ({ archivedUntilNextEvent: true }),
  '/v1/test-session-error-groups': () => ({ archivedUntilNextEvent: true }),
  '/v1/root-cause-analyses': ({ checkIds }) => ({ checkId: checkIds.url }),
  '/v1/test-sessions': (account) => ({
    name: 'A session',
    projectId: 'shop',
    results: [resultAt(account, 120_000, { hasFailures: true, apiCheckResult: failedDetail('a') })],
  }),
  '/v1/status-pages': ({ ids }, isNew) => ({
    name: 'A page',
    ...(isNew ? { url: fresh('page') } : {}),
    cards: [{ name: 'A card', services: [ids.service] }],
  }),
  '/v1/status-pages/services': ({ checkIds, ids }) => ({
    name: 'A service',
    checkIds: [checkIds.url],
    checkTags: ['web'],
    heartbeatIds: [ids.heartbeat],
    failureRule: 'LOCATIONS',
    failureLocations: 1,
  }),
  '/v1/status-pages/incidents': ({ ids }, isNew) => ({
    name: 'An incident',
    severity: 'MINOR',
    services: [ids.service],
    isDraft: false,
    postMortem: '# What happened',
    ...(isNew ? { incidentUpdates: [UPDATE] } : {}),
  }),
  '/v1/status-pages/incidents/:incidentId/incident-updates': () => UPDATE,
  '/v1/incidents': (_, isNew) => ({
    name: 'An incident',
    impact: 'MINOR',
    ...(isNew ? { incidentUpdates: [UPDATE] } : {}),
  }),
  '/v1/incidents/:incidentId/incident-updates': () => UPDATE,
  '/v1/client-certificates': ({ identity }, isNew) => ({
    ...(isNew ? { host: `${fresh('host')}.test` } : {}),
    ...identity,
  }),
  '/v1/snippets': (_, isNew) => ({ name: isNew ? fresh('snippet') : 'A snippet', script: 'a' }),
  '/v1/users': () => ({ role: 'write' }),
  '/v1/invitations': () => ({ email: `${fresh('person')}@a.test`, role: 'read' }),
  '/v1/session': ({ email }) => ({ email, password: PASSWORD }),
  '/v1/password': () => ({ currentPassword: PASSWORD, newPassword: PASSWORD }),
  '/v1/variables': (_, isNew) => ({
    ...(isNew ? { key: fresh('KEY').replaceAll('-', '_') } : {}),
    value: 'a',
  }),
  '/agent/v1/poll': () => pollOf('poller'),
  '/agent/v1/results': (account) => {
    const result = resultAt(account, 120_000);
    const { checkId, checkRunId: slot } = result;
    const missed = {
      id: 'm',
      checkId,
      slot,
      lastSlot: slot + 1000,
      count: 2,
      reason: 'agent_busy',
    };
    return { agentId: 'a', epoch: 1, results: [result], missed: [missed] };
  },
  '/agent/v1/artifacts': (account) => {
    const { id, checkId } = resultAt(account, 120_000);
    return artifactOf(id, checkId, Buffer.from('content'), 'a.txt');
  },
  '/agent/v1/handovers': (account) => {
    const { checkId, checkRunId: slot, sequenceId } = resultAt(account, 120_000);
    const times = { firstStartedAt: slot, notBefore: slot };
    return { agentId: 'a', epoch: 1, checkId, slot, sequenceId, retriesMade: 1, ...times };
  },
  '/agent/v1/errors': ({ ids }) => errorsOf(ids.agent ?? '', 'word'),
  '/agent/v1/trials': ({ ids }) => {
    const trialId = ids.trial;
    return { agentId: 'a', epoch: 1, trialId, result: null, missed: 'agent_busy', problem: null };
  },
  '/agent/v1/release': () => ({ agentId: 'a', epoch: 1, done: [] }),
};

/** Valid bodies by route. Every other route uses the example of its schema. */
export function bodyFor(route: { method: string; url: string }, account: FullAccount): unknown {
  const make = BODIES[route.url] ?? BODIES[route.url.replace(/\/:\w+$/, '')];
  return make?.(account, route.method === 'POST');
}

/** A trial of a check that the agent of the location can run. */
export function trialOf(slug: string) {
  return {
    location: slug,
    check: {
      checkType: 'URL',
      name: 'A check',
      privateLocations: [slug],
      request: REQUESTS.url,
    },
  };
}

function checkOf(type: string): Make {
  return ({ slug }) => ({
    checkType: type.toUpperCase(),
    name: 'A check',
    activated: false,
    privateLocations: [slug],
    request: REQUESTS[type],
  });
}

function resultAt(
  { checkIds, slug }: FullAccount,
  agoMs: number,
  fields: Partial<Parameters<typeof resultOfRun>[0]> = {},
) {
  const { url: checkId = '' } = checkIds;
  const slot = Math.floor(Date.now() / 1000) * 1000 - agoMs;
  return resultOfRun({ checkId, runLocation: slug, slot, ...fields });
}

function fresh(word: string): string {
  return `${word}-${randomUUID()}`;
}
