import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { insertAccount } from '../../../src/service/accounts/sql.ts';
import { agentErrorsRoutes } from '../../../src/service/agent-errors/report.routes.ts';
import { locationAgentErrorsRoutes } from '../../../src/service/agent-errors/routes.ts';
import type { Artifacts } from '../../../src/service/artifacts/artifacts.ts';
import { artifactsRoutes } from '../../../src/service/artifacts/routes.ts';
import { agentArtifactsRoutes } from '../../../src/service/artifacts/upload.routes.ts';
import { checksRoutes } from '../../../src/service/checks/routes.ts';
import type { Store } from '../../../src/service/database/store.ts';
import {
  type ArtifactStore,
  MIN_PART_BYTES,
} from '../../../src/service/object-store/artifact-store.ts';
import {
  type ArtifactLimits,
  DEFAULT_ARTIFACT_LIMITS,
} from '../../../src/service/object-store/artifacts-config.ts';
import { openLocalDisk } from '../../../src/service/object-store/local-disk/local-disk.ts';
import { privateLocationsRoutes } from '../../../src/service/private-locations/routes.ts';
import type { ArtifactUpload } from '../../../src/wire/v1/artifacts.ts';
import type { TestContent } from '../artifacts/artifact-content.ts';
import { type DatabaseKind, openMigratedStore, silentLog } from '../database/databases.ts';
import { makeTempFolder } from '../process/temp-folder.ts';
import { type Ask, type Reply, type ServiceApp, startServiceApp } from './service-app.ts';
import { testFeatures } from './service-features.ts';

/** An account with a location, one agent's key for it, and a check that runs there. */
export interface ArtifactAccount {
  readonly accountId: string;
  readonly key: string;
  readonly locationId: string;
  readonly slug: string;
  readonly agentKey: string;
  readonly checkId: string;
  /** Stores a result of the check, by default of this location; 'result-1' and 'result-2' exist. */
  storeResult(id: string, location?: string): Promise<void>;
  /** An agent of another location of the same account that runs the check as well. */
  neighbour(slug: string): Promise<ArtifactAccount>;
  /** Sends a request as a user. */
  ask(path: string, ask?: Ask): Promise<Reply>;
  /** Sends a request as an agent. */
  agent(path: string, body?: unknown, ask?: Ask): Promise<Reply>;
  /** Begins an upload of the content, by default at this service. */
  begin(
    content: TestContent,
    fields?: Readonly<Record<string, unknown>>,
    at?: Pick<ServiceApp, 'ask'>,
  ): Promise<Reply>;
  /** The first `n` parts that are missing, or all. */
  putParts(upload: ArtifactUpload, content: TestContent, n?: number): Promise<readonly Reply[]>;
  complete(upload: Pick<ArtifactUpload, 'uploadId'>): Promise<Reply>;
  /** Uploads the whole content. */
  upload(content: TestContent, fields?: Readonly<Record<string, unknown>>): Promise<void>;
}

type OtherServer = Pick<ArtifactServer, 'artifacts' | 'app'>;

/** Shared by a whole test file. */
export interface ArtifactServer {
  readonly store: Store;
  readonly contents: ArtifactStore;
  readonly artifacts: Artifacts;
  readonly app: ServiceApp;
  readonly folder: string;
  newAccount(name: string): Promise<ArtifactAccount>;
  /** The same service with another artifact store; ends with the test. */
  withContents(contents: ArtifactStore): Promise<OtherServer>;
  /** The same service with other limits; ends with the test. */
  withLimits(limits: ArtifactLimits): Promise<OtherServer>;
}

export interface ArtifactService extends ArtifactServer {
  readonly mine: ArtifactAccount;
  readonly theirs: ArtifactAccount;
}

/**
 * For a describe block: the routes of artifacts and agents' errors, with a database and a folder.
 */
export function useArtifactServer(
  kind: DatabaseKind,
  openStore: (kind: DatabaseKind) => Promise<Store> = openMigratedStore,
): () => ArtifactServer {
  let server: ArtifactServer | null = null;
  const folder = makeTempFolder();
  const others: ServiceApp[] = [];
  beforeAll(async () => {
    const store = await openStore(kind);
    const contents = await openLocalDisk(
      { folder: folder.path, partBytes: MIN_PART_BYTES },
      { clock: systemClock, log: silentLog() },
    );
    const { apiKeys, artifacts, app } = await start(store, contents);
    server = {
      store,
      contents,
      artifacts,
      app,
      folder: folder.path,
      async newAccount(name) {
        const accountId = randomUUID();
        await insertAccount(store, { id: accountId, name, createdAtMs: Date.now() });
        const { key } = await apiKeys.create(accountId, { name: 'first', role: 'admin' });
        return makeAccount({ app, store, accountId, key });
      },
      async withContents(other) {
        const started = await start(store, other);
        others.push(started.app);
        return started;
      },
      async withLimits(limits) {
        const started = await start(store, contents, limits);
        others.push(started.app);
        return started;
      },
    };
  });
  afterEach(async () => {
    for (const other of others.splice(0)) await other.close();
  });
  afterAll(async () => {
    await server?.app.close();
    await server?.store.close();
    folder.remove();
  });
  return () => {
    if (server === null) throw new Error('the service is for tests: it starts before the first');
    return server;
  };
}

/**
 * For a describe block: an account of its own for each test or, shared, for the block, and another
 * account for the block.
 */
export function useParties(
  serverOf: () => ArtifactServer,
  lifetime: 'each test' | 'shared' = 'each test',
): () => ArtifactService {
  let service: ArtifactService | null = null;
  let theirs: ArtifactAccount | null = null;
  const renew = async (): Promise<void> => {
    const server = serverOf();
    theirs ??= await server.newAccount('theirs');
    service = { ...server, mine: await server.newAccount('mine'), theirs };
  };
  if (lifetime === 'shared') beforeAll(renew);
  else beforeEach(renew);
  return () => {
    if (service === null) throw new Error('the accounts are for tests: they come before the first');
    return service;
  };
}

async function start(store: Store, contents: ArtifactStore, limits = DEFAULT_ARTIFACT_LIMITS) {
  const { features, close } = await testFeatures(store, systemClock, {
    contents,
    config: { leaseMs: 15_000, retentionDays: 30, staticIpv6s: [], artifacts: { limits } },
  });
  const routes = [
    checksRoutes(features),
    privateLocationsRoutes(features),
    artifactsRoutes(features),
    locationAgentErrorsRoutes(features),
    agentArtifactsRoutes(features),
    agentErrorsRoutes(features),
  ];
  const app = await startServiceApp(routes, {
    store,
    authenticator: features.apiKeys,
    locationKeys: features.locationKeys,
    config: { rateLimitPerMinute: 1_000_000, trustedProxies: [] },
    counts: features.counts,
  });
  const closing = async (): Promise<void> => {
    await app.close();
    await close();
  };
  return { ...features, app: { ...app, close: closing } };
}

interface AccountParts {
  readonly app: ServiceApp;
  readonly store: Store;
  readonly accountId: string;
  readonly key: string;
}

async function makeAccount(parts: AccountParts): Promise<ArtifactAccount> {
  const account = await accountAt(parts, 'berlin', async (ask, slug) => {
    const check = await ask('/v1/checks', {
      method: 'POST',
      body: {
        checkType: 'URL',
        name: 'Shop',
        request: { url: 'http://127.0.0.1/' },
        privateLocations: [slug],
      },
    });
    return check.json.id;
  });
  await parts.store.query('select make_result_partitions(current_date - 1, current_date)');
  await account.storeResult('result-1');
  await account.storeResult('result-2');
  return account;
}

async function accountAt(
  parts: AccountParts,
  slug: string,
  checkAt: (ask: ArtifactAccount['ask'], slug: string) => Promise<string>,
): Promise<ArtifactAccount> {
  const { app, store, accountId, key } = parts;
  const ask = (path: string, more: Ask = {}) => app.ask(path, { key, ...more });
  const location = await ask('/v1/private-locations', {
    method: 'POST',
    body: { slug, name: slug },
  });
  const locationId: string = location.json.id;
  const made = await ask(`/v1/private-locations/${locationId}/keys`, { method: 'POST' });
  const agentKey: string = made.json.key;
  const checkId = await checkAt(ask, slug);
  const agent = (path: string, body?: unknown, more: Ask = {}) =>
    app.ask(path, {
      key: agentKey,
      method: 'POST',
      ...more,
      headers: { 'x-agent-protocol': '1', ...more.headers },
      ...(body === undefined ? {} : { body }),
    });
  const account: ArtifactAccount = {
    accountId,
    key,
    locationId,
    slug,
    agentKey,
    checkId,
    ask,
    agent,
    async storeResult(id, location = slug) {
      await store.query(
        `insert into check_results (check_id, account_id, id, result_type, slot, created_at,
           has_failures, has_errors, run_location, check_type, body)
         values ($1, $2, $3, 'FINAL', now(), now(), true, false, $4, 'URL', '{}')`,
        [checkId, accountId, id, location],
      );
    },
    neighbour: (other) => accountAt(parts, other, async () => checkId),
    begin: (content, fields = {}, at = app) =>
      at.ask('/agent/v1/artifacts', {
        key: agentKey,
        method: 'POST',
        headers: { 'x-agent-protocol': '1' },
        body: {
          resultId: 'result-1',
          checkId,
          name: 'capture.pcap',
          contentType: 'application/vnd.tcpdump.pcap',
          bytes: content.bytes.length,
          sha256: content.description.sha256,
          ...fields,
        },
      }),
    async putParts(upload, content, n = upload.parts.length) {
      const replies: Reply[] = [];
      for (const part of upload.parts.slice(0, n)) {
        const offset = (part.n - 1) * upload.partBytes;
        const body = content.bytes.subarray(offset, offset + upload.partBytes);
        replies.push(await agent(part.url, body, { method: part.method, headers: part.headers }));
      }
      return replies;
    },
    complete: ({ uploadId }) => agent(`/agent/v1/artifacts/${uploadId}/complete`),
    async upload(content, fields) {
      const { json: upload } = await account.begin(content, fields);
      await account.putParts(upload, content);
      const { json } = await account.complete(upload);
      if (json?.complete !== true) throw new Error(`not complete: ${JSON.stringify(json)}`);
    },
  };
  return account;
}

/** Like `ask`, for binary bodies. */
export async function download(
  port: number,
  path: string,
  ask: Ask,
): Promise<Omit<Reply, 'text' | 'json'> & { readonly body: Buffer }> {
  const { key, method = 'GET', headers = {} } = ask;
  const options = { host: '127.0.0.1', port, path, method, agent: false } as const;
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, headers: { authorization: `Bearer ${key}`, ...headers } });
    sent.once('error', reject).once('response', (response) => {
      const { statusCode: status = 0, headers: received } = response;
      buffer(response).then((body) => resolve({ status, headers: received, body }), reject);
    });
    sent.end();
  });
}

export const LIST = (account: ArtifactAccount, resultId = 'result-1') =>
  `/v1/check-results/${account.checkId}/${resultId}/artifacts`;

/** The artifacts of result-1. */
export async function listed(
  account: ArtifactAccount,
): Promise<readonly { id: string; name: string; url: string }[]> {
  return (await account.ask(LIST(account))).json;
}

/** The first artifact of result-1. */
export async function only(account: ArtifactAccount): Promise<{ id: string; url: string }> {
  const [artifact] = await listed(account);
  if (artifact === undefined) throw new Error('there is no artifact');
  return artifact;
}

/** Runs `work` while the folder of artifacts is read-only. */
export async function withBrokenDisk(folder: string, run: () => Promise<void>): Promise<void> {
  const scratch = join(folder, 'scratch');
  await rename(scratch, `${scratch}-away`);
  await writeFile(scratch, '');
  try {
    await run();
  } finally {
    await rm(scratch);
    await rename(`${scratch}-away`, scratch);
  }
}
