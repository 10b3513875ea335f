import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { copyMigratedDatabase } from '../../support/database/new-database.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import { createAuthority, type Identity } from '../../support/servers/certificates.ts';
import {
  type RunningService,
  startAgent,
  startService,
  until,
} from '../../support/service/deployment.ts';
import type { Reply } from '../../support/service/service-app.ts';

/** Answers only clients with a certificate of the authority. */
async function listenForMembers(server: Identity, ca: string): Promise<string> {
  const target = createServer(
    { ...server, ca, requestCert: true, rejectUnauthorized: true },
    (_, response) => response.end('ok'),
  );
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  onTestFinished(() => {
    target.closeAllConnections();
    target.close();
  });
  return `https://localhost:${(target.address() as AddressInfo).port}/`;
}

/** Runs the check once, and returns the outcome. */
async function runOf({ ask }: RunningService, checkId: string): Promise<Reply['json']> {
  const { json: asked } = await ask(`/v1/checks/${checkId}/run`, { method: 'POST' });
  const run = await until(
    async () => (await ask(`/v1/check-runs/${asked.id}`)).json,
    ({ state }) => state === 'done',
  );
  return (await ask(`/v1/check-results/${checkId}/${run.resultId}`)).json;
}

it('a running agent presents a client certificate from the API to its host', async () => {
  const authority = await createAuthority();
  const url = await listenForMembers(await authority.issue(), authority.cert);
  const member = await authority.issue({ commonName: 'member' });
  const [serviceFolder, agentFolder] = [makeTestFolder(), makeTestFolder()];
  copyMigratedDatabase(serviceFolder);
  const service = await startService({ dataDir: serviceFolder });
  const place = await service.addLocation('office');
  const agent = await startAgent({
    serviceUrl: service.url,
    key: place.key,
    dataDir: agentFolder,
    env: { LOG_LEVEL: 'debug' },
  });
  const checkId = await service.addCheck('url', {
    name: 'Members only',
    privateLocations: [place.slug],
    retryStrategy: null,
    // The trust in the server is not checked yet.
    request: { url, skipSSL: true },
  });

  const before = await runOf(service, checkId);
  expect(before).toMatchObject({
    hasFailures: true,
    apiCheckResult: { requestErrorCode: 'TLS_CLIENT_CERT_REJECTED' },
  });

  const path = '/v1/client-certificates';
  const made = await service.ask(path, {
    method: 'POST',
    body: { host: 'localhost', ca: authority.cert, ...member },
  });
  expect(made.status).toBe(201);
  const after = await until(
    () => runOf(service, checkId),
    ({ hasFailures }) => !hasFailures,
  );
  expect(after.apiCheckResult.response.status).toBe(200);
  // The uploaded CA makes the server trusted as well.
  await service.ask(`/v1/checks/${checkId}`, {
    method: 'PATCH',
    body: { request: { url, skipSSL: false } },
  });
  await until(
    () => runOf(service, checkId),
    ({ apiCheckResult, hasFailures }) => !hasFailures && apiCheckResult.response.tls.authorized,
  );

  // It is still the same process.
  expect(agent.child.exitCode).toBeNull();
  const results = `/v1/check-results/${checkId}?resultType=ALL&limit=100`;
  const answers = await Promise.all(
    [path, `${path}/${made.json.id}`, results, `/v1/checks/${checkId}`].map((at) =>
      service.ask(at),
    ),
  );
  const answersText = [made, ...answers].map(({ text }) => text).join('\n');
  expect(answersText).toContain('BEGIN CERTIFICATE');
  const logs = `${service.log()}\n${agent.log()}`;
  for (const line of keyLinesOf(member)) {
    expect(answersText).not.toContain(line);
    expect(logs).not.toContain(line);
  }

  await service.ask(`${path}/${made.json.id}`, { method: 'DELETE' });
  await until(
    () => runOf(service, checkId),
    ({ hasFailures }) => hasFailures,
  );
  await service.kill('SIGTERM');
  // The service's data folder, whose contents are encrypted.
  const files = readdirSync(serviceFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
  expect(files.length).toBeGreaterThan(10);
  for (const line of keyLinesOf(member)) {
    expect(files.filter((text) => text.includes(line))).toEqual([]);
  }
});

/** Lines of the private key: each would reveal a part of it. */
function keyLinesOf({ key }: Identity): readonly string[] {
  const lines = key.split('\n').filter((line) => line !== '' && !line.startsWith('-----'));
  expect(lines.length).toBeGreaterThan(1);
  return lines;
}
