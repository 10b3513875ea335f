import { randomUUID } from 'node:crypto';
import { insertAccount } from '../../../src/service/accounts/sql.ts';
import type { Store } from '../../../src/service/database/store.ts';
import type { Features } from '../../../src/service/feature-types.ts';
import { insertIdentity } from '../../../src/service/oidc/sql.ts';
import { useModelOnce } from '../../../src/service/root-cause/claims.sql.ts';
import {
  addressDigests,
  sealSubscriber,
} from '../../../src/service/status-pages/subscriptions/address.ts';
import { insertSubscriber } from '../../../src/service/status-pages/subscriptions/sql.ts';
import { newLinkToken } from '../../../src/service/users/link-token.ts';
import { giveEverySlot } from '../agent/assigned-slots.ts';
import { wireResult } from '../samples/wire-results.ts';
import type { Identity } from '../servers/certificates.ts';
import { TEST_SECRETS } from '../service/service-features.ts';
import { failedDetail, workAsAgent } from './account-agent.ts';
import { type AskAs, createResources, findCreatedIds, type Ids } from './account-resources.ts';
import { makeUser } from './account-user.ts';
import type { Answer, Sent } from './request-sender.ts';
import { credentialText } from './secret-texts.ts';
import { REQUESTS, trialOf } from './valid-bodies.ts';

/** An account with one of everything, created as users and agents do it. */
export interface FullAccount {
  readonly accountId: string;
  readonly apiKey: string;
  readonly readKey: string;
  readonly revokedKey: string;
  readonly agentKey: string;
  /** The user is an admin: the email, and the cookie of a session. */
  readonly email: string;
  readonly cookie: string;
  readonly slug: string;
  /** The slug of its location for trials. */
  readonly labSlug: string;
  /** By the type's name in paths. */
  readonly checkIds: Readonly<Record<string, string>>;
  /** Ids of all its other resources, by kind: path-parameters.ts maps them to paths. */
  readonly ids: Ids;
  /** The client certificate of its checks, with the private key that nobody may ever see. */
  readonly identity: Identity;
}

interface AccountParts {
  readonly store: Store;
  readonly features: Features;
  readonly send: (sent: Sent) => Promise<Answer>;
}

export const AGENT_HEADERS = { 'x-agent-protocol': '1' };

function credentialsOf(mark: string, type: string) {
  const hidden = credentialText(mark);
  // A user name alone is a token.
  if (type === 'url') return { url: `https://${hidden}@a.test/` };
  if (type !== 'api') return {};
  const headers = ['Authorization', 'Proxy-Authorization', 'Cookie', 'X-API-Key'];
  return {
    url: `https://user:${hidden}@a.test/`,
    headers: headers.map((key) => ({ key, value: `Bearer ${hidden}` })),
    basicAuth: { username: 'user', password: hidden },
  };
}

/**
 * @param mark a word that is part of all its texts
 * @param prefix begins every id that the account chooses
 */
export async function createFullAccount(
  { store, features, send }: AccountParts,
  identity: Identity,
  mark: string,
  prefix: string,
): Promise<FullAccount> {
  const accountId = randomUUID();
  await insertAccount(store, { id: accountId, name: mark, createdAtMs: Date.now() });
  const keyOf = async (role: 'admin' | 'read') =>
    features.apiKeys.create(accountId, { name: mark, role });
  const { key: apiKey, apiKey: keyRow } = await keyOf('admin');
  const revoked = await keyOf('admin');
  await features.apiKeys.revoke({ accountId, id: revoked.apiKey.id });
  const askWith = (key: string): AskAs => askerWith(send, key);
  const ask = askWith(apiKey);

  const slug = `${prefix}-place`;
  const location = await ask('POST', '/v1/private-locations', {
    slug,
    name: mark,
    proxyUrl: `http://user:${credentialText(mark)}@proxy.test:3128`,
  });
  const locationKey = await ask('POST', `/v1/private-locations/${location.id}/keys`);
  const service = await ask('POST', '/v1/status-pages/services', { name: mark });
  const group = await ask('POST', '/v1/check-groups', {
    name: mark,
    privateLocations: [slug],
    tags: [mark],
  });
  const incident = { serviceId: service.id, severity: 'MAJOR', name: mark, description: mark };
  const checkIds: Record<string, string> = {};
  for (const [type, request] of Object.entries(REQUESTS)) {
    const id = `${prefix}-${type}`;
    await ask('PUT', `/v1/checks/${type}/${id}`, {
      name: mark,
      description: mark,
      tags: [mark],
      // Its failure triggers an alert and opens an incident.
      ...(type === 'url' ? { groupId: group.id, triggerIncident: incident } : {}),
      privateLocations: [slug],
      request: { ...request, ...credentialsOf(mark, type) },
      variables: [{ key: 'OWN', value: credentialText(mark), secret: true }],
    });
    checkIds[type] = id;
  }
  const { url: checkId = '', tcp = '' } = checkIds;
  const run = await ask('POST', `/v1/checks/${tcp}/run`, { location: slug });
  // No valid request deactivates it: the group has something to run.
  await ask('PUT', `/v1/checks/tcp/${prefix}-grouped`, {
    name: mark,
    groupId: group.id,
    groupOrder: 1,
    // Its group has the private one, which can be deleted after the group.
    locations: ['eu-west-1'],
    request: REQUESTS.tcp,
  });
  const groupRun = await ask('POST', `/v1/check-groups/${group.id}/run`);
  const resources = await createResources(ask, {
    accountId,
    mark,
    prefix,
    checkId,
    serviceId: service.id,
    identity,
  });
  const { key: agentKey } = locationKey;
  const email = `${mark}.${prefix}@a.test`;
  const user = await makeUser({ send, key: apiKey, email, role: 'admin' });
  const atProvider = { issuer: 'https://id.test', subject: mark + prefix, userId: user.id };
  await insertIdentity(store, { ...atProvider, createdAtMs: Date.now() });
  const invited = await ask('POST', '/v1/invitations', { email: `x.${email}`, role: 'read' });
  const subscriber = await makeSubscriber(store, { accountId, pageId: resources.page, mark });
  await giveEverySlot(store, { accountId, checkId, slugs: [slug] });
  const work = await workAsAgent(askWith(agentKey), { mark, prefix, slug, checkId });
  const trial = await makeTrial({ store, features, ask }, { accountId, mark, prefix });
  // As after the last retry: only then it can be sent again.
  await store.query(
    `update alert_deliveries set state = 'failed', finished_at = now()
     where account_id = $1 and finished_at is null`,
    [accountId],
  );
  // The tests of routes have no model: counted as if there were one.
  const day = new Date().toISOString().slice(0, 10);
  await useModelOnce(store, { accountId, day, limit: 1 });
  return {
    accountId,
    apiKey,
    readKey: (await keyOf('read')).key,
    revokedKey: revoked.key,
    agentKey,
    email,
    cookie: user.cookie,
    slug,
    labSlug: trial.slug,
    checkIds,
    ids: {
      apiKey: keyRow.id,
      location: location.id,
      locationKey: locationKey.id,
      service: service.id,
      group: String(group.id),
      run: run.id,
      groupRun: groupRun.id,
      trial: trial.id,
      user: user.id,
      userSession: user.sessionId,
      invitation: invited.id,
      subscriber,
      ...resources,
      ...work,
      ...(await findCreatedIds(ask, { ...resources, ...work, checkId })),
    },
    identity,
  };
}

/**
 * A location for trials of URL checks alone, with an agent that is connected as long as the tests run, and
 * a trial that has ended.
 */
async function makeTrial(
  { store, features, ask }: Omit<AccountParts, 'send'> & { readonly ask: AskAs },
  { accountId, mark, prefix }: { accountId: string; mark: string; prefix: string },
): Promise<{ readonly id: string; readonly slug: string }> {
  const slug = `${prefix}-lab`;
  const { id: locationId } = await ask('POST', '/v1/private-locations', { slug, name: mark });
  const agentId = `${prefix}-trier`;
  const capabilities = { types: ['URL'], ipv6: false, icmp: false, capture: false, trials: true };
  await store.query(
    `insert into agents (account_id, location_id, id, version, instance_id, capabilities, concurrency,
       epoch, lease_until)
     values ($1, $2, $3, '1.0.0', $3, $4::jsonb, 10, 1, now() + interval '1 day')`,
    [accountId, locationId, agentId, capabilities],
  );
  const { id } = await ask('POST', '/v1/check-trials', trialOf(slug));
  const [held] = await features.checkTrials.claim(store, {
    accountId,
    locationId,
    agentId,
    epoch: 1,
  });
  const result = wireResult(id, {
    checkId: id,
    name: mark,
    checkRunId: held?.slot ?? 0,
    runLocation: slug,
    hasFailures: true,
    apiCheckResult: failedDetail(mark),
  });
  const report = { agentId, epoch: 1, trialId: id, result, missed: null, problem: null };
  const caller = { accountId, locationId, keyId: agentId };
  if (!(await features.checkTrials.report(caller, report))) throw new Error('no trial was held');
  return { id, slug };
}

/** A subscriber of a status page, who has confirmed. */
async function makeSubscriber(
  store: Store,
  { accountId, pageId, mark }: { accountId: string; pageId: string; mark: string },
): Promise<string> {
  const id = randomUUID();
  const { token, tokenHash } = newLinkToken();
  const address = `${mark.toLowerCase()}@subscriber.test`;
  const nowMs = Date.now();
  await insertSubscriber(store, {
    accountId,
    pageId,
    id,
    kind: 'email',
    sealed: sealSubscriber(TEST_SECRETS, { accountId, id }, { address, token, signingKey: null }),
    addressDigest: addressDigests(TEST_SECRETS, 'email', address)[0],
    tokenHash,
    serviceIds: null,
    base: 'https://vedette.test/status/page',
    confirmedAtMs: nowMs,
    createdAtMs: nowMs,
  });
  return id;
}

/** Sends a request with the key. @throws Error for any status but success */
function askerWith(send: AccountParts['send'], key: string): AskAs {
  return async (method, path, body) => {
    const isContent = body instanceof Buffer;
    const isAgent = path.startsWith('/agent');
    const answer = await send({
      method,
      path,
      key: path.startsWith('/heartbeat') ? null : key,
      body: isContent || body === undefined ? body : JSON.stringify(body),
      headers: {
        ...(isAgent ? AGENT_HEADERS : {}),
        'content-type': isContent ? 'application/octet-stream' : 'application/json',
      },
    });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  };
}
