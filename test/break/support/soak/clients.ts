import { randomBytes } from 'node:crypto';
import { messageOf } from '../../../../src/runtime/errors.ts';
import type { RunningService } from '../../../support/service/deployment.ts';
import type { Ask, Reply } from '../../../support/service/service-app.ts';
import { SECRET_VARIABLE, type SoakCheck } from './checks.ts';

/** Clients that use the API during the soak. */
export interface SoakClients {
  /** Requests by purpose. */
  readonly done: Readonly<Partial<Record<string, number>>>;
  /** Unexpected answers: empty if all is well. */
  readonly troubles: readonly string[];
  /** Ends them after their current requests. */
  stop(): Promise<void>;
}

export interface SoakClientsOptions {
  readonly service: RunningService;
  readonly slug: string;
  readonly checks: readonly SoakCheck[];
  /** Token of a heartbeat that is pinged; the other heartbeat never is again. */
  readonly pingPath: string;
}

/** The rate limits of the service are 60 and 30 of these a minute. */
const RESULTS_EVERY_MS = 2_000;
const DOWNLOADS_EVERY_MS = 4_000;
const REPORTS_EVERY_MS = 2_500;
const EDITS_EVERY_MS = 400;
const RUNS_EVERY_MS = 400;
const CHURN_EVERY_MS = 2_000;
const SECRET_EVERY_MS = 5_000;
const MAX_CHURNED = 5;
const SECRETS = 4;
const MAX_TROUBLES = 20;

export function newSecret(): string {
  return `soak-${randomBytes(12).toString('hex')}`;
}

export function startSoakClients(options: SoakClientsOptions): SoakClients {
  const { service, slug, checks, pingPath } = options;
  const stopping = new AbortController();
  const done: Record<string, number> = {};
  const troubles: string[] = [];
  // Old values stay masked for an hour, so that ever new ones would add up.
  const secrets = Array.from({ length: SECRETS }, newSecret);

  const trouble = (purpose: string, path: string, more: Ask, what: string): void => {
    if (troubles.length >= MAX_TROUBLES) return;
    troubles.push(`${purpose}: ${more.method ?? 'GET'} ${path}: ${what}`);
  };
  const ask = async (purpose: string, path: string, more: Ask = {}): Promise<Reply | null> => {
    let reply: Reply;
    try {
      reply = await service.ask(path, more);
    } catch (error) {
      trouble(purpose, path, more, messageOf(error));
      return null;
    }
    done[purpose] = (done[purpose] ?? 0) + 1;
    const isWell = reply.status >= 200 && reply.status < 300;
    const leaks = secrets.some((secret) => reply.text.includes(secret));
    if (leaks) trouble(purpose, path, more, 'its answer holds a secret');
    if (isWell) return reply;
    trouble(purpose, path, more, `${reply.status} ${reply.text.slice(0, 300)}`);
    return null;
  };
  let turn = 0;
  const next = <Item>(items: readonly Item[]): Item => {
    turn += 1;
    const item = items[turn % items.length];
    if (item === undefined) throw new Error('there is nothing to choose from');
    return item;
  };
  const repeat = async (everyMs: number, step: () => Promise<unknown>): Promise<void> => {
    while (!stopping.signal.aborted) {
      await step();
      await pause(everyMs, stopping.signal);
    }
  };

  const withType = (...types: readonly SoakCheck['type'][]): readonly SoakCheck[] =>
    checks.filter(({ type }) => types.includes(type));
  const asked = withType('url', 'dns', 'icmp');
  const withBody = checks.filter(({ keepsBody }) => keepsBody);

  const readResults = async (): Promise<void> => {
    const { id } = next(checks);
    const results = await ask('results', `/v1/check-results/${id}?resultType=ALL&limit=20`);
    await ask('statuses', `/v1/check-statuses/${id}`);
    await ask('missed', `/v1/missed-slots/${id}?limit=20`);
    const newest = results?.json[0];
    if (newest !== undefined) await ask('result', `/v1/check-results/${id}/${newest.id}`);
  };
  const download = async (): Promise<void> => {
    const { id } = next(withBody);
    const results = await ask('results', `/v1/check-results/${id}?limit=1`);
    for (const result of results?.json ?? []) {
      const path = `/v1/check-results/${id}/${result.id}/artifacts`;
      const artifacts = await ask('artifacts', path);
      for (const { url } of artifacts?.json ?? []) await ask('download', url);
    }
  };
  const report = async (): Promise<void> => {
    const { id, type } = next(withType('url', 'api', 'tcp', 'dns', 'icmp'));
    const path = type === 'api' ? 'api-checks' : type;
    await ask(
      'analytics',
      `/v1/analytics/${path}/${id}?quickRange=last24Hours&metrics=availability`,
    );
    await ask('alerts', '/v1/check-alerts?limit=20');
    await ask('checks', '/v1/checks?limit=50');
    await ask('error groups', `/v1/error-groups?checkId=${next(checks).id}`);
  };
  let edits = 0;
  const edit = async (): Promise<void> => {
    const { id } = next(checks);
    edits += 1;
    await ask('edits', `/v1/checks/${id}`, { method: 'PATCH', body: { name: `edit ${edits}` } });
  };
  const run = async (): Promise<void> => {
    await ask('runs', `/v1/checks/${next(asked).id}/run`, { method: 'POST', body: {} });
  };
  const churned: string[] = [];
  let births = 0;
  const churn = async (): Promise<void> => {
    births += 1;
    const id = `churned-${births}`;
    const request = { hostname: '127.0.0.1', port: service.port };
    const body = { name: id, privateLocations: [slug], request, frequency: 0, frequencyOffset: 10 };
    await ask('created', `/v1/checks/tcp/${id}`, { method: 'PUT', body });
    churned.push(id);
    if (churned.length <= MAX_CHURNED) return;
    await ask('deleted', `/v1/checks/${churned.shift()}`, { method: 'DELETE' });
  };
  const change = async (): Promise<void> => {
    const value = next(secrets);
    const body = { key: SECRET_VARIABLE, value, secret: true };
    await ask('secrets', `/v1/variables/${SECRET_VARIABLE}`, { method: 'PUT', body });
    await ask('pings', pingPath, { key: null });
  };

  const running = [
    repeat(RESULTS_EVERY_MS, readResults),
    repeat(DOWNLOADS_EVERY_MS, download),
    repeat(REPORTS_EVERY_MS, report),
    repeat(EDITS_EVERY_MS, edit),
    repeat(RUNS_EVERY_MS, run),
    repeat(CHURN_EVERY_MS, churn),
    repeat(SECRET_EVERY_MS, change),
  ];
  // `stop` reports them; nothing awaits them before.
  for (const each of running) each.catch(() => {});
  return {
    done,
    troubles,
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

/** The pace of a client is intended; it ends at once with the clients. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
