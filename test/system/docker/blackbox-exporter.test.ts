import { writeFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { startExporter } from '../../support/compose/exporter.ts';
import { type Sample, startPrometheus } from '../../support/compose/prometheus.ts';
import { runCommand } from '../../support/compose/scripts.ts';
import { icmpCapability } from '../../support/network/icmp-capability.ts';
import { COMPILED_PROGRAM } from '../../support/process/compiled-program.ts';
import { lacking } from '../../support/process/system-needs.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import { createAuthority } from '../../support/servers/certificates.ts';
import { startDnsResponder } from '../../support/servers/dns-responder.ts';
import { servingZone } from '../../support/servers/dns-zone.ts';
import { servedBy } from '../../support/servers/http-servers.ts';
import { listening, listenTcp, refusingPort } from '../../support/servers/tcp-servers.ts';
import { listenTls } from '../../support/servers/tls-servers.ts';
import { startProcess, until } from '../../support/service/deployment.ts';

const EXPORTER = 'prometheus-blackbox-exporter';
const lacks = lacking({ commands: [EXPORTER, 'prometheus'], files: [] });

/** Modules whose probe fails. */
const FAILING: ReadonlySet<string> = new Set([
  ...['http_maintenance', 'http_denied', 'tcp_closed', 'imap_banner', 'dns_missing'],
]);
/** Series that each program measures in its own way. */
const MEASURED = /_seconds$/;
/** The metrics that are missing according to the agent's handbook. */
const MISSING = /^probe_(?:dns_additional_rrs|ssl_last_chain_\w+)$/;

describe.skipIf(lacks !== null)(`probes for Prometheus (needs ${lacks ?? 'nothing'})`, () => {
  it('have the metrics and values of the blackbox exporter, by its own modules and scrape jobs', async () => {
    const { targets, modules, authority } = await startTargets();
    const folder = makeTestFolder();
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const caFile = file('ca.pem', authority);
    const modulesFile = file('blackbox.yml', stringify({ modules: modules(caFile) }));
    const job = (name: string, address: string) => ({
      job_name: name,
      metrics_path: '/probe',
      scrape_interval: '4s',
      scrape_timeout: '4s',
      static_configs: Object.entries(targets).map(([module, target]) => ({
        targets: [target],
        labels: { module },
      })),
      relabel_configs: [
        { source_labels: ['__address__'], target_label: '__param_target' },
        { source_labels: ['module'], target_label: '__param_module' },
        { source_labels: ['module'], target_label: 'instance' },
        { target_label: '__address__', replacement: address },
      ],
    });
    const jobsFile = file(
      'prometheus.yml',
      stringify({ scrape_configs: [job('probes', 'exporter:9115')] }),
    );

    const checksFile = join(folder, 'checks.yaml');
    const made = await runCommand([
      ...COMPILED_PROGRAM,
      ...['import', '--probe-modules', modulesFile, jobsFile, '--output', checksFile],
    ]);
    expect(made.code, made.stderr).toBe(0);
    const agent = startProcess(['agent'], {
      env: {
        ...{ CHECKS_FILE: checksFile, AGENT_HEALTH_PORT: '0', PROBE_ENDPOINT: 'on' },
        ...{ NODE_EXTRA_CA_CERTS: caFile, VARIABLES_FROM_ENV: 'HTTP_BASIC_PASSWORD' },
        HTTP_BASIC_PASSWORD: 'correct horse',
      },
    });
    const [exporter, log] = await Promise.all([
      startExporter(modulesFile),
      agent.logged(/checks loaded/),
    ]);
    const prometheus = await startPrometheus({}, [
      job('exporter', exporter),
      job('agent', `127.0.0.1:${/"port":(\d+)/.exec(log)?.[1]}`),
    ]);
    const count = Object.keys(targets).length;
    await until(
      () => prometheus.query('count by (job) (probe_success)'),
      (found) => found.length === 2 && found.every(({ value }) => value === count),
    );
    const [theirs = {}, ours = {}] = await Promise.all(
      ['exporter', 'agent'].map(async (name) =>
        seriesOf(await prometheus.query(`{job="${name}", __name__=~"probe_.+"}`)),
      ),
    );
    expect(ours).toEqual(theirs);
    expect(passing(ours)).toEqual(
      new Set(Object.keys(targets).filter((module) => !FAILING.has(module))),
    );
  });
});

/** The values by module and series; of measured values only their presence. */
function seriesOf(samples: readonly Sample[]): Readonly<Record<string, Record<string, unknown>>> {
  const byModule: Record<string, Record<string, unknown>> = {};
  for (const { labels, value } of samples) {
    const { __name__: name = '', module = '', job: _, instance: _i, ...own } = labels;
    if (MISSING.test(name)) continue;
    const of = JSON.stringify(own);
    const isMeasured = MEASURED.test(name) && !name.endsWith('timestamp_seconds');
    byModule[module] ??= {};
    (byModule[module] ?? {})[`${name}${of}`] = isMeasured ? 'measured' : value;
  }
  return byModule;
}

function passing(series: Readonly<Record<string, Record<string, unknown>>>): ReadonlySet<string> {
  const modules = Object.entries(series).filter(([, values]) => values['probe_success{}'] === 1);
  return new Set(modules.map(([module]) => module));
}

/** The ports of servers on loopback, by the name of the module that probes each. */
async function startTargets() {
  const authority = await createAuthority();
  const identity = await authority.issue({ addresses: ['127.0.0.1'] });
  const http = await servedBy((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://a');
    if (pathname === '/echo') {
      response.statusCode = request.method === 'POST' ? 201 : 405;
      void request.pipe(response);
      return;
    }
    if (pathname === '/private') {
      const isKnown = request.headers.authorization === `Basic ${btoa('probe:correct horse')}`;
      response.writeHead(isKnown ? 200 : 401).end();
      return;
    }
    if (pathname === '/old') {
      response.writeHead(302, { location: '/' }).end();
      return;
    }
    const isDown = pathname === '/maintenance';
    response.setHeader('last-modified', 'Thu, 01 Jan 2026 00:00:00 GMT');
    response.end(isDown ? 'Down for maintenance' : 'All is well');
  });
  const secure = createSecureServer({ ...identity, allowHTTP1: true }, (_request, response) =>
    response.end('All is well'),
  );
  const https = await listening(secure);
  const tls = await listenTls(identity);
  const mail = await listenTcp((socket) => {
    socket.write('220 mail.example ESMTP\r\n');
    socket.once('data', () => socket.write('250 mail.example\r\n'));
  });
  const closed = await refusingPort();
  const dns = await startDnsResponder({
    udp: servingZone({
      'shop.example 1': [
        { name: 'shop.example', type: 'A', ttl: 60, data: '192.0.2.1' },
        { name: 'shop.example', type: 'A', ttl: 60, data: '192.0.2.2' },
      ],
    }),
  });
  for (const server of [https, tls, mail, closed, dns]) onTestFinished(() => server.close());
  const pings = (await icmpCapability()) !== 'none';
  const targets: Record<string, string> = {
    http_2xx: `${http}/`,
    http_post: `${http}/echo`,
    http_redirected: `${http}/old`,
    http_redirect: `${http}/old`,
    https_own_ca: `https://127.0.0.1:${https.port}/`,
    http_maintenance: `${http}/maintenance`,
    http_basic: `${http}/private`,
    http_denied: `${http}/private`,
    tcp_connect: `127.0.0.1:${mail.port}`,
    tcp_closed: `127.0.0.1:${closed.port}`,
    tcp_tls: `127.0.0.1:${tls.port}`,
    smtp_banner: `127.0.0.1:${mail.port}`,
    imap_banner: `127.0.0.1:${mail.port}`,
    dns_a: `127.0.0.1:${dns.port}`,
    dns_missing: `127.0.0.1:${dns.port}`,
    ...(pings ? { icmp: '127.0.0.1' } : {}),
  };
  const ip4 = { preferred_ip_protocol: 'ip4' };
  const modules = (caFile: string) => {
    const ca = { ca_file: caFile };
    const name = { query_name: 'shop.example', query_type: 'A' };
    return {
      http_2xx: { prober: 'http', http: ip4 },
      http_post: {
        prober: 'http',
        http: {
          ...ip4,
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: '{"ping": true}',
          fail_if_body_not_matches_regexp: ['"ping": true'],
          valid_status_codes: [201],
        },
      },
      http_redirected: { prober: 'http', http: ip4 },
      http_redirect: {
        prober: 'http',
        http: {
          ...ip4,
          follow_redirects: false,
          valid_status_codes: [302],
          fail_if_header_not_matches: [{ header: 'Location', regexp: '^/$' }],
        },
      },
      https_own_ca: {
        prober: 'http',
        timeout: '3s',
        http: { ...ip4, fail_if_not_ssl: true, tls_config: ca },
      },
      http_maintenance: {
        prober: 'http',
        http: { ...ip4, fail_if_body_matches_regexp: ['(?i)maintenance'] },
      },
      http_basic: {
        prober: 'http',
        http: { ...ip4, basic_auth: { username: 'probe', password: 'correct horse' } },
      },
      http_denied: { prober: 'http', http: ip4 },
      tcp_connect: { prober: 'tcp', tcp: ip4 },
      tcp_closed: { prober: 'tcp', tcp: ip4 },
      tcp_tls: { prober: 'tcp', tcp: { ...ip4, tls: true, tls_config: ca } },
      smtp_banner: {
        prober: 'tcp',
        tcp: {
          ...ip4,
          query_response: [
            { expect: '^220 ([^ ]+) ESMTP' },
            { send: 'EHLO probe\r' },
            { expect: '^250 ' },
          ],
        },
      },
      imap_banner: {
        prober: 'tcp',
        timeout: '1s',
        tcp: { ...ip4, query_response: [{ expect: '^\\* OK' }] },
      },
      dns_a: {
        prober: 'dns',
        dns: {
          ...ip4,
          ...name,
          validate_answer_rrs: { fail_if_none_matches_regexp: ['192\\.0\\.2\\.1'] },
        },
      },
      dns_missing: { prober: 'dns', dns: { ...ip4, ...name, query_name: 'gone.example' } },
      icmp: { prober: 'icmp', icmp: ip4 },
    };
  };
  return { targets, modules, authority: authority.cert };
}
