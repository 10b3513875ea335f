import { onTestFinished } from 'vitest';
import { newDatabase } from '../database/new-database.ts';
import { forwardTo, openEntry, openPorts } from '../network/namespace-ports.ts';
import { NetworkNamespace } from '../network/network-namespace.ts';
import type { HookServer } from '../servers/hook-server.ts';
import { newApiKey, type RunningService, startService } from '../service/deployment.ts';

/** An address that counts as public; in the namespace it is the loopback's. */
const PUBLIC_ADDRESS = '93.184.216.34';
const WEB_PORT = 8090;
/** An address of a host whose servers stand at a public address, as those of readers do. */
export const WEB_URL = `http://${PUBLIC_ADDRESS}:${WEB_PORT}`;
const FIRST_PORT = 8081;
export const SERVICE_URL = 'https://monitor.example.com';

/**
 * Replicas of the service on one PostgreSQL database, each with a mail server of its own, in a network in
 * which `web` has a public address: subscribers may have no others. Root only.
 *
 * @param mailPorts one for each replica
 */
export async function startReplicas(
  web: Pick<HookServer, 'port'>,
  mailPorts: readonly number[],
): Promise<{ readonly databaseUrl: string; readonly replicas: readonly RunningService[] }> {
  const database = await newDatabase('postgres');
  if (!('databaseUrl' in database)) throw new Error('there is no PostgreSQL');
  const { databaseUrl } = database;
  const databasePort = Number(new URL(databaseUrl).port);
  const namespace = new NetworkNamespace();
  onTestFinished(() => namespace.remove());
  namespace.run('ip', 'addr', 'add', `${PUBLIC_ADDRESS}/32`, 'dev', 'lo');
  const outside = [databasePort, ...mailPorts].map((port) => [port, forwardTo(port)] as const);
  await openPorts(namespace, Object.fromEntries(outside));
  await openPorts(namespace, { [WEB_PORT]: forwardTo(web.port) }, PUBLIC_ADDRESS);
  const apiKey = newApiKey();
  const replicas: RunningService[] = [];
  for (const [index, mailPort] of mailPorts.entries()) {
    const port = FIRST_PORT + index;
    const replica = await startService({
      databaseUrl,
      apiKey,
      port,
      entryPort: await openEntry(namespace, port),
      prefix: ['ip', 'netns', 'exec', namespace.name],
      env: {
        ENCRYPTION_KEY,
        PUBLIC_URL: SERVICE_URL,
        SMTP_URL: `smtp://127.0.0.1:${mailPort}`,
        SMTP_FROM: 'status@example.com',
        // The tests are the proxy, so that readers have addresses of their own.
        TRUSTED_PROXIES: '127.0.0.1',
      },
    });
    replicas.push(replica);
  }
  return { databaseUrl, replicas };
}

const ENCRYPTION_KEY = '5a'.repeat(32);
