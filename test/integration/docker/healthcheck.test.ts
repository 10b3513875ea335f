import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runToEnd } from '../../support/containers/run-command.ts';

const SCRIPT = join(import.meta.dirname, '../../../docker/healthcheck.mjs');

/** Answers readiness with the status, other paths with 404. @returns its port */
async function serve(status: number, host: string): Promise<number> {
  const server = createServer((request, response) => {
    response.statusCode = request.url === '/-/readiness' ? status : 404;
    response.end(`answer ${status}\n`);
  }).listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const check = (env: Readonly<Record<string, string>>, standard: number) =>
  runToEnd(process.execPath, [SCRIPT, 'THE_PORT', String(standard)], { env });

it('is healthy where readiness answers 200, at the port of the variable', async () => {
  const [ready, standard] = [await serve(200, '127.0.0.1'), await serve(503, '127.0.0.1')];
  const told = await check({ THE_PORT: String(ready) }, standard);
  expect(told).toEqual({ code: 0, stdout: 'answer 200\n', stderr: '' });
  expect(await check({ THE_PORT: '' }, ready)).toMatchObject({ code: 0 });
});

it('is not healthy where readiness says so, or nobody answers, and says why', async () => {
  const port = await serve(503, '127.0.0.1');
  expect(await check({}, port)).toEqual({ code: 1, stdout: 'answer 503\n', stderr: '' });
  const nobody = await check({}, 1);
  expect(nobody).toMatchObject({ code: 1, stderr: '' });
  expect(nobody.stdout).toContain('ECONNREFUSED');
});

it('asks the address in HOST, at which the service listens', async () => {
  const port = await serve(200, '127.0.0.2');
  expect(await check({ HOST: '127.0.0.2' }, port)).toMatchObject({ code: 0 });
  expect(await check({ HOST: '0.0.0.0' }, await serve(200, '0.0.0.0'))).toMatchObject({ code: 0 });
});

it('asks the address in AGENT_HEALTH_HOST, at which the agent listens, whatever HOST is', async () => {
  const port = await serve(200, '127.0.0.2');
  const env = {
    AGENT_HEALTH_PORT: String(port),
    AGENT_HEALTH_HOST: '127.0.0.2',
    HOST: '127.0.0.3',
  };
  const args = [SCRIPT, 'AGENT_HEALTH_PORT', '1'];
  expect(await runToEnd(process.execPath, args, { env })).toMatchObject({ code: 0 });
});
