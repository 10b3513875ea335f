import { describe, expect, it } from 'vitest';
import { expectedImport, imported, importedSources } from '../../../../support/import-sources.ts';

const FILES = ['blackbox.yml', 'prometheus.yml', 'targets.json'] as const;

const MODULE = `modules:
  web: { prober: http }
`;

describe('modules of blackbox_exporter with the jobs of Prometheus', () => {
  it('become a check for each target', () => {
    expect(importedSources(...FILES).value).toEqual(expectedImport('blackbox'));
  });

  it('leave a line for each thing that did not carry over', () => {
    const { lines, leftOut } = importedSources(...FILES);
    expect(lines).toEqual([
      'prometheus.yml:5: scrape_configs[0]: note: the job does not use the exporter: what it scrapes is not a check',
      'prometheus.yml:9: scrape_configs[1]: changed: runs every 30 s instead of every 45 s, the nearest period of API checks',
      'prometheus.yml:32: scrape_configs[2].file_sd_configs[0].files[1]: left out: no given file has this name, so its targets are not known; give the file of targets on the command line, too',
      'prometheus.yml:33: scrape_configs[2].kubernetes_sd_configs: left out: its targets are only known to Prometheus while it runs; write them into a file of targets (its page Service discovery shows them)',
      'blackbox.yml:23: modules.web_signed_in.http.proxy_url: left out: checks have no proxy of their own; set proxyUrl of the private location',
      'blackbox.yml:35: modules.mail.tcp.query_response[5]: changed: the check makes the upgrade to TLS of SMTP itself (startTlsProtocol), without the expectations before it',
      'prometheus.yml:28: scrape_configs[2]: changed: the time limit is 5 s instead of 20 s, the longest of TCP checks',
      'blackbox.yml:41: modules.ping.icmp.ttl: note: echo requests of checks have the TTL of the system; nothing is needed',
      'prometheus.yml:28: scrape_configs[2]: changed: the time limit is 5 s instead of 29.5 s, the longest of DNS checks',
      'blackbox.yml:48: modules.health: left out: no type of check does what the prober "grpc" does; a TCP check can at least see that the port is open',
    ]);
    expect(leftOut).toBe(4);
  });

  it('name the variables to set, and contain no secret', () => {
    const { text, lines, variables } = importedSources(...FILES);
    expect(variables).toEqual([
      { name: 'WEB_X_API_KEY', meaning: 'the header X-Api-Key of web' },
      { name: 'WEB_TOKEN', meaning: 'the query parameter token of web' },
      { name: 'WEB_SIGNED_IN_PASSWORD', meaning: 'the password of the module web_signed_in' },
    ]);
    expect(text).toContain('#   WEB_TOKEN: the query parameter token of web\n');
    expect(text + lines.join('\n')).not.toContain('s3cret');
  });

  it('have a comment at each check that says where it comes from', () => {
    const { text } = importedSources(...FILES);
    expect(text).toContain('# prometheus.yml:16 scrape_configs[1].static_configs[0].targets[0]\n');
  });

  it('have no targets alone', () => {
    const { lines } = imported({ 'blackbox.yml': MODULE });
    expect(lines).toEqual([
      'blackbox.yml:1: modules: left out: modules alone have no targets; give the configuration of Prometheus, or files of targets, on the command line, too; or add --probe-modules for an agent that answers Prometheus in place of the exporter',
    ]);
  });

  it('leave a line for each other part of the configuration of Prometheus', () => {
    const prometheus = `global: { scrape_interval: 1m, external_labels: { site: a } }
rule_files: [rules.yml]
alerting: { alertmanagers: [] }
scrape_config_files: [jobs.yml]
remote_write: [{ url: "https://s3cret@metrics.example/" }]
scrape_configs: []
`;
    const { lines, leftOut } = imported({ 'blackbox.yml': MODULE, 'prometheus.yml': prometheus });
    expect(lines.filter((line) => line.startsWith('prometheus.yml'))).toEqual([
      'prometheus.yml:1: global.external_labels: note: Prometheus adds these labels to all that it sends; for the same in results add tags to the defaults of the file',
      'prometheus.yml:2: rule_files: note: alert rules stay in Prometheus; for alerts of the service add alertChannels to the file',
      'prometheus.yml:3: alerting: note: the Alertmanager stays that of Prometheus; for alerts of the service add alertChannels to the file',
      'prometheus.yml:4: scrape_config_files: left out: the jobs of other files are not read; give these files on the command line, too',
      'prometheus.yml:5: remote_write: note: a setting of Prometheus itself',
    ]);
    expect(leftOut).toBe(1);
  });

  it('are guessed by the name where only the jobs are given', () => {
    const job = `scrape_configs:
  - job_name: up
    metrics_path: /probe
    params: { module: [http_2xx] }
    static_configs: [{ targets: [shop.example] }]
    relabel_configs: [{ source_labels: [__address__], target_label: __param_target }]
`;
    const { value, lines } = imported({ 'prometheus.yml': job });
    expect(value).toMatchObject({
      checks: [
        { id: 'up-shop-example', checkType: 'URL', request: { url: 'http://shop.example' } },
      ],
    });
    expect(lines).toEqual([
      expect.stringContaining('left out: the module http_2xx is not in the given files'),
    ]);
  });

  it('with a hostname beside the target say that it is lost', () => {
    const job = `scrape_configs:
  - job_name: up
    params: { module: [web], hostname: [shop.example] }
    static_configs: [{ targets: ["https://192.0.2.1/"] }]
    relabel_configs: [{ source_labels: [__address__], target_label: __param_target }]
`;
    const { lines } = imported({ 'blackbox.yml': MODULE, 'prometheus.yml': job });
    expect(lines).toEqual([
      expect.stringContaining('left out: its parameter hostname, the name for Host and TLS'),
    ]);
  });

  it('leave out a rule that is not understood, and go on', () => {
    const job = `scrape_configs:
  - job_name: up
    params: { module: [web] }
    static_configs: [{ targets: [shop.example] }]
    relabel_configs:
      - { source_labels: [__address__], target_label: __param_target }
      - { source_labels: [__address__], target_label: shard, modulus: 2, action: hashmod }
`;
    const { value, lines } = imported({ 'blackbox.yml': MODULE, 'prometheus.yml': job });
    expect(value).toMatchObject({ checks: [{ id: 'up-shop-example' }] });
    expect(lines).toEqual([
      'prometheus.yml:7: scrape_configs[0].relabel_configs[1]: left out: the import does not understand its action or its regular expression; see whether the targets and tags of the job are right',
    ]);
  });
});

describe('files of targets alone', () => {
  it('become checks of the types that their targets look like', () => {
    const targets = `- targets: ["https://shop.example/", "db.example:5432", "192.0.2.1", "[2001:db8::1]:22"]
  labels: { team: shop }
`;
    const { value, lines } = imported({ 'targets.yml': targets });
    const common = { tags: ['team:shop'], frequency: 1 };
    expect(value).toMatchObject({
      checks: [
        { ...common, checkType: 'URL', request: { url: 'https://shop.example/' } },
        { ...common, checkType: 'TCP', request: { hostname: 'db.example', port: 5432 } },
        { ...common, checkType: 'ICMP', request: { hostname: '192.0.2.1' } },
        { ...common, checkType: 'TCP', request: { hostname: '2001:db8::1', port: 22 } },
      ],
    });
    expect(lines).toHaveLength(2);
  });

  it('use the modules of the exporter that their labels name', () => {
    const targets = '[{ "targets": ["shop.example"], "labels": { "__param_module": "web" } }]';
    const { value } = imported({ 'blackbox.yml': MODULE, 'targets.json': targets });
    const twoHundreds = { source: 'STATUS_CODE', comparison: 'LESS_THAN', target: '300' };
    expect(value).toMatchObject({ checks: [{ request: { assertions: [twoHundreds] } }] });
  });
});

describe('modules that send or expect bytes', () => {
  const stepsOf = (...items: readonly string[]) => {
    const module = `modules:\n  m:\n    prober: tcp\n    tcp: { query_response: [${items.join(', ')}] }\n`;
    const job = `scrape_configs:
  - job_name: j
    scrape_timeout: 5s
    params: { module: [m] }
    static_configs: [{ targets: ["db.example:5432"] }]
    relabel_configs: [{ source_labels: [__address__], target_label: __param_target }]
`;
    return imported({ 'blackbox.yml': module, 'prometheus.yml': job });
  };

  it('begin TLS as the protocol of their request does', () => {
    const { value, lines } = stepsOf(
      '{ send: !!binary AAAACATSFi8= }',
      '{ expect_bytes: S }',
      '{ starttls: true }',
      '{ send: hello }',
    );
    expect(lines).toEqual([]);
    const upgrade = { tls: 'STARTTLS', startTlsProtocol: 'POSTGRESQL' };
    expect(value).toMatchObject({
      checks: [{ request: { ...upgrade, steps: [{ send: 'hello\n' }] } }],
    });
  });

  it('have steps of the same bytes, with the line feed that the exporter adds', () => {
    const { value } = stepsOf('{ send: !!binary /wA= }', '{ expect_bytes: "ok" }', '{ send: "é" }');
    const steps = [{ send: 'ff000a', expect: '6f6b', format: 'HEX' }, { send: 'é\n' }];
    expect(value).toMatchObject({ checks: [{ request: { steps } }] });
    expect(stepsOf('{ send: !!binary aGk= }').value).toMatchObject({
      checks: [{ request: { steps: [{ send: 'hi\n' }] } }],
    });
  });

  it('never copy a secret, nor one among bytes', () => {
    const { lines, text } = stepsOf('{ send: !!binary AXBhc3N3b3JkPXMzY3JldA== }');
    expect(lines).toEqual([expect.stringContaining('seem to contain a secret, so the module')]);
    expect(text).not.toMatch(/s3cret|733363726574/);
  });

  it('with a pattern that repeats its start are left out, with what to write', () => {
    expect(stepsOf('{ expect: "^+OK" }').lines).toEqual([
      expect.stringContaining('its pattern repeats ^ instead of matching a + or *, so the module'),
    ]);
  });
});

describe('modules of protocols that no check speaks', () => {
  it('are left out, with what comes nearest', () => {
    const modules = `modules:
  quic: { prober: http, http: { enable_http3: true, valid_http_versions: [HTTP/3.0] } }
  socket: { prober: unix, unix: { query_response: [{ expect: PONG }] } }
`;
    const { lines, value } = imported({ 'blackbox.yml': modules }, { probeModules: true });
    expect(lines).toEqual([
      expect.stringContaining('enable_http3: left out'),
      expect.stringContaining('valid_http_versions: left out: checks do not use HTTP/3, so the'),
      expect.stringContaining('let a script on that machine ping a heartbeat'),
    ]);
    expect(value).toEqual({ name: 'imported' });
  });
});

describe('modules with settings that are seldom used', () => {
  const probeOf = (module: string, target: string) => {
    const job = `scrape_configs:
  - job_name: j
    params: { module: [m] }
    static_configs: [{ targets: ["${target}"] }]
    relabel_configs: [{ source_labels: [__address__], target_label: __param_target }]
`;
    const { value, lines, leftOut } = imported({
      'blackbox.yml': `modules:\n  m: ${module}\n`,
      'p.yml': job,
    });
    const [check] = (value as { checks?: { request: object }[] }).checks ?? [];
    return { request: check?.request, lines, leftOut };
  };

  it('assert on headers, versions and TLS', () => {
    const { request, lines } = probeOf(
      `{ prober: http, http: { valid_http_versions: [HTTP/1.1, HTTP/2.0], fail_if_not_ssl: true,
        fail_if_header_matches: [{ header: Set-Cookie, regexp: ".*", allow_missing: true }],
        fail_if_header_not_matches: [{ header: Server, regexp: "^nginx" }, { header: Via, regexp: x, allow_missing: true }] } }`,
      'https://shop.example/',
    );
    expect(request).toMatchObject({
      assertions: [
        { source: 'STATUS_CODE' },
        { source: 'HTTP_VERSION', comparison: 'NOT_NULL', regex: '^(?:1\\.1|2)$' },
        { source: 'CERTIFICATE', property: 'protocol', comparison: 'NOT_NULL' },
        { source: 'HEADERS', property: 'Set-Cookie', comparison: 'IS_NULL', regex: '.*' },
        { source: 'HEADERS', property: 'Server', comparison: 'NOT_NULL', regex: '^nginx' },
      ],
    });
    expect(lines).toEqual([
      expect.stringContaining(
        'left out: no assertion passes both without the header and with a value that matches',
      ),
    ]);
  });

  it.each([
    ['valid_status_codes: [200, 404]', '200, 404'],
    ['accept_any_response: true', '200-599'],
  ])('with %s accept statuses on both sides of 400', (field, target) => {
    const { request, lines } = probeOf(
      `{ prober: http, http: { ${field} } }`,
      'https://shop.example/',
    );
    expect(request).toMatchObject({
      assertions: [{ source: 'STATUS_CODE', comparison: 'ONE_OF', target }],
    });
    expect(lines).toEqual([]);
  });

  it('leave a note, which does not count as left out, for what needs nothing', () => {
    const { lines, leftOut } = probeOf(
      '{ prober: http, http: { compression: gzip, body_size_limit: 1MB, valid_status_codes: [200] } }',
      'https://shop.example/',
    );
    expect(lines).toEqual([
      expect.stringMatching(/compression: note: .*; nothing is needed$/),
      expect.stringMatching(/body_size_limit: note: .*; nothing is needed$/),
    ]);
    expect(leftOut).toBe(0);
  });

  it('say that the check upgrades to TLS itself, without the expectations of the module', () => {
    const { request, lines } = probeOf(
      `{ prober: tcp, tcp: { query_response: [{ expect: "^220 ([^ ]+) ESMTP (.+)$" }, { send: "EHLO prober" },
        { expect: "^250-STARTTLS" }, { send: STARTTLS }, { expect: "^220" }, { starttls: true }] } }`,
      'mail.example:25',
    );
    expect(request).toEqual({
      hostname: 'mail.example',
      port: 25,
      tls: 'STARTTLS',
      startTlsProtocol: 'SMTP',
    });
    expect(lines).toEqual([
      expect.stringContaining(
        'query_response[5]: changed: the check makes the upgrade to TLS of SMTP itself (startTlsProtocol), without the expectations before it',
      ),
      expect.stringContaining('changed: the time limit is 5 s'),
    ]);
  });

  it('authenticate with tokens', () => {
    const { request } = probeOf(
      `{ prober: http, http: { oauth2: { client_id: probe, client_secret: s3cret, token_url: "https://id.example/token",
        scopes: [read, list], endpoint_params: { audience: shop } } } }`,
      'https://shop.example/',
    );
    expect(request).toMatchObject({
      auth: {
        type: 'OAUTH2_CLIENT_CREDENTIALS',
        tokenUrl: 'https://id.example/token',
        clientId: 'probe',
        clientSecret: '{{M_CLIENT_SECRET}}',
        scope: 'read list',
        audience: 'shop',
      },
    });
    const bearer = probeOf(
      '{ prober: http, http: { bearer_token_file: /run/token } }',
      'http://a/',
    );
    expect(bearer.request).toMatchObject({
      headers: [{ key: 'Authorization', value: 'Bearer {{M_TOKEN}}' }],
    });
  });

  it('send first what the exporter sends after it expected something', () => {
    const { request } = probeOf(
      `{ prober: tcp, tcp: { tls: true, tls_config: { server_name: irc.example }, query_response: [
        { send: "NICK probe" }, { expect: "^PING", send: "PONG" }, { expect: " 001 " }] } }`,
      '192.0.2.1:6697',
    );
    expect(request).toEqual({
      hostname: '192.0.2.1',
      port: 6697,
      tls: 'ON',
      serverName: 'irc.example',
      steps: [
        { send: 'NICK probe\n', expect: '(?:^|\\n)PING' },
        { send: 'PONG\n', expect: ' 001 ' },
      ],
    });
  });

  it('make no check of a conversation that sends back what it received', () => {
    const { request, lines } = probeOf(
      `{ prober: tcp, tcp: { query_response: [{ expect: "PING (.+)", send: "PONG \${1}" }] } }`,
      'irc.example:6667',
    );
    expect(request).toBeUndefined();
    expect(lines).toEqual([
      expect.stringContaining('left out: steps cannot send what arrived before'),
    ]);
  });
});
