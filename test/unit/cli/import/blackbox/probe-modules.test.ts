import { describe, expect, it } from 'vitest';
import { withTarget } from '../../../../../src/agent/blackbox-probe/probe-target.ts';
import { parseCheckFile } from '../../../../../src/agent/source/file/parse-check-file.ts';
import { dnsPortOf } from '../../../../../src/model/check/request/dns.ts';
import { imported } from '../../../../support/import-sources.ts';

const MODULES = `modules:
  http_2xx: { prober: http }
  Mail.v2: { prober: tcp, timeout: 4s, tcp: { query_response: [{ expect: "^220" }] } }
  names: { prober: dns, dns: { query_name: shop.example, query_type: A } }
  ping: { prober: icmp }
  rpc: { prober: grpc }
  "two words": { prober: http }
  signed_in: { prober: http, http: { basic_auth: { username: probe, password: s3cret } } }
`;
const jobOf = (...targets: readonly string[]): string => `scrape_configs:
  - job_name: web
    scrape_interval: 15s
    metrics_path: /probe
    params: { module: [signed_in] }
    consul_sd_configs: [{ server: "consul:8500" }]
    static_configs: [{ targets: ${JSON.stringify(targets)} }]
    relabel_configs: [{ source_labels: [__address__], target_label: __param_target }]
`;
const probes = (texts: Readonly<Record<string, string>>) => imported(texts, { probeModules: true });

describe('modules for probes of Prometheus', () => {
  it('become one check each with their own name, which runs only for probes', () => {
    const { value, lines } = probes({ 'blackbox.yml': MODULES });
    const idle = { activated: false };
    expect(value).toMatchObject({
      checks: [
        { ...idle, id: 'http_2xx', checkType: 'URL' },
        { ...idle, id: 'Mail.v2', checkType: 'TCP', maxResponseTime: 4000 },
        { ...idle, id: 'names', checkType: 'DNS', request: { query: 'shop.example' } },
        { ...idle, id: 'ping', checkType: 'ICMP' },
        { ...idle, id: 'signed_in', checkType: 'API' },
      ],
    });
    expect(lines).toEqual([
      expect.stringMatching(/^blackbox\.yml:6: modules\.rpc: left out: no type of check does/),
      expect.stringMatching(/^blackbox\.yml:7: .*left out: its name cannot be the id of a check/),
      expect.stringMatching(/^blackbox\.yml:8: .*: changed: with credentials.* set its target/),
    ]);
  });

  it.each([
    ['udp', '192.0.2.53', 53],
    ['udp', '192.0.2.53:5353', 5353],
    ['tcp, dns_over_tls: true', '192.0.2.53', 853],
  ])('of DNS over %s ask the target %s at port %i', async (transport, target, port) => {
    const dns = `{ query_name: shop.example, query_type: A, transport_protocol: ${transport} }`;
    const { text } = probes({ 'b.yml': `modules: { names: { prober: dns, dns: ${dns} } }` });
    const [check] = (await parseCheckFile(text, 'checks.yaml')).checks;
    if (check === undefined) throw new Error('no check');
    const probed = withTarget(check, target);
    if (!probed.ok || probed.check.checkType !== 'DNS') throw new Error(JSON.stringify(probed));
    expect(probed.check.request.nameServer).toBe('192.0.2.53');
    expect(dnsPortOf(probed.check.request)).toBe(port);
  });

  it('with credentials have the first target that a job probes with them', () => {
    const job = jobOf('https://shop.example/a', 'https://shop.example/b', 'https://other.example');
    const { value, lines, text } = probes({ 'blackbox.yml': MODULES, 'prometheus.yml': job });
    expect(value).toMatchObject({
      checks: expect.arrayContaining([
        expect.objectContaining({
          id: 'signed_in',
          request: expect.objectContaining({ url: 'https://shop.example/a' }),
        }),
      ]),
    });
    expect(lines.slice(2)).toEqual([
      expect.stringMatching(/signed_in: changed: .*, those of https:\/\/shop\.example\/a$/),
      expect.stringMatching(
        /signed_in: left out: probes of its 1 other target are refused, which have another/,
      ),
    ]);
    expect(text).not.toContain('s3cret');
    const mail = '{ prober: tcp, tcp: { query_response: [{ send: "PASS s3cret" }] } }';
    const modules = `modules: { signed_in: ${mail} }`;
    const odd = probes({ 'b.yml': modules, 'prometheus.yml': jobOf('mail.example') });
    expect(odd.lines).toEqual([
      expect.stringMatching(/set its target, as no check can have that of its jobs$/),
    ]);
    const one = probes({ 'blackbox.yml': MODULES, 'prometheus.yml': jobOf('https://a.example/') });
    expect(one.lines).toHaveLength(3);
  });

  it('keep their names beside entries of other files that are called the same', async () => {
    const endpoint = '{ name: ping, url: "https://a.example/", conditions: ["[STATUS] == 200"] }';
    const { text } = probes({
      'gatus.yaml': `endpoints: [${endpoint}]`,
      'b.yml': 'modules: { ping: { prober: icmp } }',
    });
    const { checks } = await parseCheckFile(text, 'checks.yaml');
    expect(checks.map(({ id, checkType }) => [id, checkType])).toEqual([
      ['ping', 'ICMP'],
      ['ping-2', 'URL'],
    ]);
  });

  it('get another id where theirs is a path of the API, and are probed by their name', async () => {
    const modules = 'icmp: { prober: icmp }, icmp-check: { prober: icmp }, api: { prober: http }';
    const { text } = probes({ 'b.yml': `modules: { ${modules} }` });
    const { checks } = await parseCheckFile(text, 'checks.yaml');
    expect(checks.map(({ id, name }) => [id, name])).toEqual([
      ['icmp-check-2', 'icmp'],
      ['icmp-check', 'icmp-check'],
      ['api-check', 'api'],
    ]);
  });

  it('have no fields where there are bytes instead of a mapping', () => {
    const { lines } = probes({ 'b.yml': 'modules: { t: { prober: tcp, tcp: !!binary /w== } }' });
    expect(lines).toEqual([]);
  });

  it('name each job whose probes the agent refuses for their parameter hostname', () => {
    const plain = jobOf('https://a.example/', 'https://a.example/b');
    const job = plain.replace('module: [signed_in]', '$&, hostname: [shop.example]');
    const { lines } = probes({ 'blackbox.yml': MODULES, 'prometheus.yml': job });
    const about = lines.filter((line) => line.includes('hostname'));
    expect(about).toEqual([
      expect.stringMatching(
        /^prometheus\.yml:2: scrape_configs\[0\]: left out: .* \(400\).* remove the parameter/,
      ),
    ]);
  });
});
