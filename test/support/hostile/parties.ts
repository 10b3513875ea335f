import { createHash, randomUUID } from 'node:crypto';
import type { Features } from '../../../src/service/features.ts';
import { insertAccount } from '../../../src/service/store/accounts.ts';
import type { Store } from '../../../src/service/store/port.ts';
import { resultOfRun } from '../service-suites/results-harness.ts';
import type { Answer, Sent } from './send.ts';

/** An account that has one of everything, made as users and agents make it. */
export interface Party {
  readonly accountId: string;
  readonly apiKey: string;
  readonly readKey: string;
  readonly revokedKey: string;
  readonly agentKey: string;
  readonly locationId: string;
  readonly slug: string;
  readonly checkIds: Readonly<Record<string, string>>;
  readonly groupId: number;
}

interface PartyParts {
  readonly store: Store;
  readonly features: Features;
  readonly send: (sent: Sent) => Promise<Answer>;
}

export const AGENT_HEADERS = { 'x-agent-protocol': '1' };

const REQUESTS: Readonly<Record<string, object>> = {
  url: { url: 'https://a.test/' },
  api: { url: 'https://a.test/', method: 'GET' },
  tcp: { hostname: 'a.test', port: 22 },
  dns: { query: 'a.test', recordType: 'A' },
  icmp: { hostname: 'a.test' },
};

/**
 * @param mark a word that is in every text of theirs
 * @param prefix begins every id that is theirs to choose
 */
export async function makeParty(
  { store, features, send }: PartyParts,
  mark: string,
  prefix: string,
): Promise<Party> {
  const accountId = randomUUID();
  await insertAccount(store, { id: accountId, name: mark, createdAtMs: Date.now() });
  const keyOf = async (role: 'admin' | 'read') =>
    features.apiKeys.create(accountId, { name: mark, role });
  const { key: apiKey } = await keyOf('admin');
  const revoked = await keyOf('admin');
  await features.apiKeys.revoke(accountId, revoked.apiKey.id);

  const ask = async (key: string, method: string, path: string, body?: unknown) => {
    const headers = path.startsWith('/agent') ? AGENT_HEADERS : {};
    const json = body instanceof Buffer || body === undefined ? body : JSON.stringify(body);
    const type = body instanceof Buffer ? 'application/octet-stream' : 'application/json';
    const answer = await send({
      method,
      path,
      key,
      body: json,
      headers: { ...headers, 'content-type': type },
    });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  };
  const slug = `${prefix}-place`;
  const location = await ask(apiKey, 'POST', '/v1/private-locations', {
    slug,
    name: mark,
    proxyUrl: `http://user:${mark}@proxy.test:3128`,
  });
  const { key: agentKey } = await ask(apiKey, 'POST', `/v1/private-locations/${location.id}/keys`);
  const group = await ask(apiKey, 'POST', '/v1/check-groups', {
    name: mark,
    privateLocations: [slug],
    tags: [mark],
  });
  const checkIds: Record<string, string> = {};
  for (const [type, request] of Object.entries(REQUESTS)) {
    const id = `${prefix}-${type}`;
    await ask(apiKey, 'PUT', `/v1/checks/${type}/${id}`, {
      name: mark,
      description: mark,
      tags: [mark],
      groupId: type === 'url' ? group.id : null,
      privateLocations: [slug],
      request,
    });
    checkIds[type] = id;
  }
  await ask(apiKey, 'POST', `/v1/checks/${prefix}-tcp/run`, { location: slug });
  await asAgent();
  return {
    accountId,
    apiKey,
    readKey: (await keyOf('read')).key,
    revokedKey: revoked.key,
    agentKey,
    locationId: location.id,
    slug,
    checkIds,
    groupId: group.id,
  };

  /** Polls, brings results with an artifact and half of another, and a fault of its own; then goes. */
  async function asAgent(): Promise<void> {
    const agent = (path: string, body: unknown, method = 'POST') =>
      ask(agentKey, method, path, body);
    const agentId = `${prefix}-agent`;
    const { epoch } = await agent('/agent/v1/poll', pollOf(agentId));
    const slot = Math.floor(Date.now() / 1000) * 1000 - 60_000;
    const checkId = `${prefix}-url`;
    const result = resultOfRun({ checkId, runLocation: slug, slot, name: mark });
    const missed = {
      id: 'm',
      checkId,
      slot: slot - 1000,
      lastSlot: slot - 1000,
      count: 1,
      reason: mark,
    };
    await agent('/agent/v1/results', { agentId, epoch, results: [result], missed: [missed] });
    for (const half of [false, true]) {
      const content = Buffer.from(`${mark} ${half}`);
      const upload = await agent(
        '/agent/v1/artifacts',
        artifactOf(result.id, checkId, content, `${prefix}-${half}.txt`),
      );
      if (half) continue;
      await agent(upload.parts[0].url, content, 'PUT');
      await agent(`/agent/v1/artifacts/${upload.uploadId}/complete`, {});
    }
    await agent('/agent/v1/errors', errorsOf(agentId, mark));
    await agent('/agent/v1/release', { agentId, epoch, done: [] });
  }
}

export function pollOf(agentId: string) {
  return {
    agentId,
    instanceId: 'one',
    version: '1.0.0',
    capabilities: {
      types: ['URL', 'API', 'TCP', 'DNS', 'ICMP'],
      ipv6: true,
      icmp: true,
      capture: true,
    },
    concurrency: 10,
    load: { running: 0, queued: 0 },
    revision: 0,
    epoch: 0,
    page: null,
    done: [],
    refused: [],
  };
}

function artifactOf(resultId: string, checkId: string, content: Buffer, name: string) {
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { resultId, checkId, name, contentType: 'text/plain', bytes: content.length, sha256 };
}

function errorsOf(agentId: string, word: string) {
  const frame = { function: word, file: 'dist/a.js', line: 1, column: 1 };
  const report = { class: word, code: word, stack: [frame], count: 1, firstAt: 1, lastAt: 2 };
  return { agentId, version: '1', node: '20', platform: 'linux', arch: 'x64', reports: [report] };
}

/** Good bodies, by route; for every other route the schema's own example is one. */
export function bodyFor(route: { method: string; url: string }, party: Party): unknown {
  const { method, url } = route;
  const { url: checkId = '' } = party.checkIds;
  const type = /^\/v1\/checks\/(\w+)/.exec(url)?.[1];
  if (/^\/v1\/checks(\/\w+)?(\/:id)?$/.test(url)) {
    const known = type ?? 'url';
    const check = {
      checkType: known.toUpperCase(),
      name: 'A check',
      activated: false,
      privateLocations: [party.slug],
      request: REQUESTS[known],
    };
    return check;
  }
  if (url === '/v1/checks/:id/run') return { location: party.slug };
  if (url.startsWith('/v1/check-groups'))
    return { name: 'A group', privateLocations: [party.slug] };
  if (url.startsWith('/v1/private-locations')) {
    return { name: 'A place', ...(method === 'POST' ? { slug: `place-${randomUUID()}` } : {}) };
  }
  const slot = Math.floor(Date.now() / 1000) * 1000 - 120_000;
  const result = resultOfRun({ checkId, runLocation: party.slug, slot });
  switch (url) {
    case '/agent/v1/poll':
      return pollOf('poller');
    case '/agent/v1/results':
      return {
        agentId: 'a',
        epoch: 1,
        results: [result],
        missed: [{ id: 'm', checkId, slot, lastSlot: slot + 1000, count: 2, reason: 'agent_busy' }],
      };
    case '/agent/v1/artifacts':
      return artifactOf(result.id, checkId, Buffer.from('content'), 'a.txt');
    case '/agent/v1/handovers':
      return {
        agentId: 'a',
        epoch: 1,
        checkId,
        slot,
        sequenceId: result.sequenceId,
        retriesMade: 1,
        firstStartedAt: slot,
        notBefore: slot,
      };
    case '/agent/v1/errors':
      return errorsOf('a', 'word');
    case '/agent/v1/release':
      return { agentId: 'a', epoch: 1, done: [] };
    default:
      return undefined;
  }
}
