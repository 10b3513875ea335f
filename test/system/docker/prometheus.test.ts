import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { ALERT_CASES, alertTests } from '../../support/compose/alert-cases.ts';
import { DASHBOARDS, dashboardExpressions } from '../../support/compose/grafana-dashboards.ts';
import { PROMETHEUS_NEEDS, startPrometheus } from '../../support/compose/prometheus.ts';
import {
  alertRules,
  PROMETHEUS_CONFIG,
  RULE_FILES,
} from '../../support/compose/prometheus-files.ts';
import { runCommand } from '../../support/compose/scripts.ts';
import { lacking } from '../../support/process/system-needs.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import { createAuthority } from '../../support/servers/certificates.ts';
import { listenTls } from '../../support/servers/tls-servers.ts';
import { startAgent, startProcess, startService, until } from '../../support/service/deployment.ts';

const lacks = lacking(PROMETHEUS_NEEDS);

/** Panels without data if there were no errors or no such events. */
const MAY_BE_EMPTY = ['Packet loss', 'Check file', 'Errors by route'];

describe.skipIf(lacks !== null)(`Prometheus (needs ${lacks ?? 'nothing'})`, () => {
  it.each([
    ['its configuration', ['check', 'config', PROMETHEUS_CONFIG]],
    ['the alert rules', ['check', 'rules', ...RULE_FILES]],
  ])('takes %s', async (_, args) => {
    const { code, stdout, stderr } = await runCommand(['promtool', ...args]);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  });

  it('each alert fires in its case, and none fires when all is well', async () => {
    expect(ALERT_CASES.map(({ alert }) => alert)).toEqual(alertRules().map(({ alert }) => alert));
    const file = join(makeTestFolder(), 'tests.yaml');
    writeFileSync(file, stringify(alertTests(RULE_FILES)));
    const { code, stdout, stderr } = await runCommand(['promtool', 'test', 'rules', file]);
    expect(stdout + stderr).not.toContain('FAILED');
    expect(code, stdout + stderr).toBe(0);
  });

  it('every panel of the dashboards has data of a real agent and a real service', async () => {
    const target = await startTarget();
    const service = await startService();
    const { slug, key } = await service.addLocation('office');
    const common = {
      privateLocations: [slug],
      frequency: 1,
      name: 'A check',
      tags: ['team:shop', 'not-chosen'],
    };
    const url = `http://127.0.0.1:${target}/`;
    const checks = [
      await service.addCheck('url', { ...common, request: { url } }),
      // Nothing listens there.
      await service.addCheck('tcp', {
        ...common,
        retryStrategy: null,
        request: { hostname: '127.0.0.1', port: 9 },
      }),
      await service.addCheck('tcp', {
        ...common,
        request: { hostname: '127.0.0.1', port: await startTlsTarget(), tls: 'ON', skipSSL: true },
      }),
      await service.addCheck('icmp', { ...common, request: { hostname: '127.0.0.1' } }),
    ];
    const agent = await startAgent({
      serviceUrl: service.url,
      key,
      dataDir: makeTestFolder(),
      env: { METRIC_TAGS: 'team:*' },
    });
    const prometheus = await startPrometheus({
      'vedette-agent': [agent.healthPort],
      'vedette-service': [service.port],
    });
    // Rates cover only events after the first scrape.
    await until(
      () => prometheus.query('count(vedette_runs_total) + count(vedette_service_build_info)'),
      (samples) => samples.length > 0,
    );
    for (const id of checks)
      await service.ask(`/v1/checks/${id}/run`, { method: 'POST', body: {} });
    await until(
      () => prometheus.query('sum(increase(vedette_uploaded_total[1m])) >= 2'),
      (samples) => samples.length > 0,
    );
    await until(
      () => prometheus.query(`count(vedette_check_state{tags=",team:shop,"}) == ${checks.length}`),
      (samples) => samples.length > 0,
    );
    await until(
      () =>
        prometheus.query(
          'sum(increase(vedette_service_http_requests_total{route="/agent/v1/results"}[1m])) > 0',
        ),
      (samples) => samples.length > 0,
    );

    // The service counts them twice a minute.
    await until(
      () => prometheus.query('sum(vedette_service_agents_live) > 0'),
      (samples) => samples.length > 0,
    );

    for (const port of [agent.healthPort, service.port]) {
      expect(await misnamedMetrics(`127.0.0.1:${port}`)).toEqual([]);
    }

    const values = {
      agent: `127.0.0.1:${agent.healthPort}`,
      service: `127.0.0.1:${service.port}`,
      location: slug,
      check: 'A check',
      tag: 'team:shop',
    };
    const asked = DASHBOARDS.flatMap((name) => dashboardExpressions(name, values));
    const empty = new Set<string>();
    for (const { title, expr } of asked) {
      const samples = await prometheus.query(expr);
      if (samples.length === 0) empty.add(title);
    }
    expect([...empty].filter((title) => !MAY_BE_EMPTY.includes(title))).toEqual([]);
    const down = await prometheus.query(asked.find(({ title }) => title === 'Down')?.expr ?? '');
    expect(down.map(({ labels }) => labels.check_id)).toEqual([checks[1]]);

    const evaluated = await until(
      () => prometheus.rules(),
      (rules) => rules.every(({ health }) => health !== 'unknown'),
    );
    expect(evaluated).toHaveLength(alertRules().length);
    expect(evaluated.filter(({ health }) => health !== 'ok')).toEqual([]);

    await agent.kill('SIGKILL');
    const rules = await until(
      () => prometheus.rules(),
      (all) => all.some(({ name, state }) => name === 'VedetteAgentDown' && state === 'pending'),
    );
    expect(rules.find(({ name }) => name === 'VedetteServiceDown')?.state).toBe('inactive');
  });

  it('probes targets through an agent, as the agent’s handbook configures it', async () => {
    const file = join(makeTestFolder(), 'checks.yaml');
    const request = { url: 'http://replaced.example' };
    const module = { id: 'http_2xx', name: 'HTTP', checkType: 'URL', activated: false, request };
    writeFileSync(file, stringify({ checks: [module] }));
    const agent = startProcess(['agent'], {
      env: { CHECKS_FILE: file, AGENT_HEALTH_PORT: '0', PROBE_ENDPOINT: 'on' },
    });
    const log = await agent.logged(/"port":\d+.*health and metrics are served/);
    const address = `127.0.0.1:${/"port":(\d+)/.exec(log)?.[1]}`;
    const up = `http://127.0.0.1:${await startTarget()}/`;
    const down = 'http://127.0.0.1:9/';
    const job = documentedProbes().replaceAll('agent:8081', address);
    const [config] = parse(job).scrape_configs;
    const prometheus = await startPrometheus({}, [
      { ...config, static_configs: [{ targets: [up, down] }] },
    ]);
    // A scrape may take half a second here, which a busy machine can exceed: the next one passes.
    await until(
      () => prometheus.query(`probe_success{instance="${up}"} == 1`),
      (found) => found.length === 1,
    );
    const failed = await until(
      () => prometheus.query(`probe_success{instance="${down}"}`),
      (found) => found.length === 1,
    );
    expect(failed.map(({ value }) => value)).toEqual([0]);
    const [status] = await prometheus.query(`probe_http_status_code{instance="${up}"}`);
    expect(status?.value).toBe(200);
    expect(await misnamedMetrics(address, `/probe?target=${encodeURIComponent(up)}`)).toEqual([]);
  });
});

const HANDBOOK = join(import.meta.dirname, '../../../src/agent/README.md');

/** The scrape configuration of "Probes for Prometheus". */
function documentedProbes(): string {
  const [, section = ''] = readFileSync(HANDBOOK, 'utf8').split('### Probes for Prometheus\n');
  return /```yaml\n(.*?)```/s.exec(section)?.[1] ?? '';
}

/** Answers every request with 200. */
async function startTarget(): Promise<number> {
  const server = createServer((_request, response) => response.end('fine'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Shakes hands, with a certificate that nobody trusts. */
async function startTlsTarget(): Promise<number> {
  const authority = await createAuthority();
  const server = await listenTls(await authority.issue());
  onTestFinished(() => server.close());
  return server.port;
}

/** The complaints of promtool about names and help of the metrics, except deprecated ones. */
async function misnamedMetrics(address: string, path = '/metrics'): Promise<readonly string[]> {
  const text = await (await fetch(`http://${address}${path}`)).text();
  const file = join(makeTestFolder(), 'metrics.txt');
  writeFileSync(file, text);
  const { stdout, stderr } = await runCommand([
    'sh',
    '-c',
    'promtool check metrics <"$1"',
    'sh',
    file,
  ]);
  const deprecated = [...text.matchAll(/^# HELP (\S+) Deprecated: /gm)].map(([, name]) => name);
  return `${stdout}${stderr}`
    .split('\n')
    .filter((line) => line !== '' && !deprecated.includes(line.split(' ', 1)[0]));
}
