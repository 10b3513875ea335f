import { describe, expect, it, onTestFinished } from 'vitest';
import { BlackboxProbe } from '../../../../src/agent/blackbox-probe/blackbox-probe.ts';
import type { RunnerParts } from '../../../../src/agent/run/run.ts';
import { checkSetOf, startDaemon } from '../../../support/agent/daemon-fixture.ts';
import { runFixture } from '../../../support/agent/run-fixture.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { servedBy } from '../../../support/servers/http-servers.ts';
import { listenTcp, refusingPort } from '../../../support/servers/tcp-servers.ts';

/** Runs only for probes. */
const MODULE = { activated: false };
const SIGNS = `request.headers.authorization = 'Bearer ' + variables.get('KEY')`;

async function startProbes(env: Readonly<Record<string, string>> = {}) {
  const fixture = await startDaemon({ env });
  const { daemon, listener } = fixture;
  const credentials = {
    url: 'http://127.0.0.1:9/login',
    headers: [{ key: 'Authorization', value: 'Bearer 8c1f0d7a2b' }],
  };
  const request = { url: 'http://127.0.0.1:9/' };
  listener.onChecks(
    checkSetOf([
      checkOf('URL', { id: 'http_2xx', ...MODULE }),
      checkOf('API', { id: 'with-token', ...MODULE, request: credentials }),
      checkOf('API', { id: 'with-variable', ...MODULE, request: { url: 'http://a/?k={{KEY}}' } }),
      checkOf('API', { id: 'with-setup', ...MODULE, request, setupScript: SIGNS }),
      checkOf('API', { id: 'with-teardown', ...MODULE, request, teardownScript: SIGNS }),
      checkOf('TCP', { id: 'tcp-check', name: 'tcp', ...MODULE }),
    ]),
  );
  await eventually(() => daemon.status.state === 'running');
  const probe = (
    query: Readonly<Record<string, string>>,
    timeoutSeconds: string | null = null,
    signal = new AbortController().signal,
  ) => daemon.probes.answer({ query: new URLSearchParams(query), timeoutSeconds, signal });
  return { ...fixture, probe };
}

/** A probe of a run pipeline, some of whose parts are given. */
function startProbe(query: Readonly<Record<string, string>>, parts: Partial<RunnerParts> = {}) {
  const clock = new FakeClock();
  const fixture = runFixture({ clock, parts });
  const endpoint = new BlackboxProbe(fixture.parts);
  onTestFinished(() => endpoint.stop());
  endpoint.setChecks([checkOf('URL', { id: 'http_2xx', ...MODULE })]);
  const { signal } = new AbortController();
  const request = { query: new URLSearchParams(query), timeoutSeconds: '5', signal };
  return { clock, logRecords: fixture.logRecords, answer: endpoint.answer(request) };
}

/** A target that accepts connections and never answers. */
async function startSilent() {
  const silent = await listenTcp((socket) => void socket.resume());
  onTestFinished(() => silent.close());
  return silent;
}

describe('a probe', () => {
  it('runs a check with the target of the request, and answers with the metrics of the exporter', async () => {
    const { probe, results } = await startProbes();
    const url = await servedBy((_request, response) => {
      response.setHeader('last-modified', 'Thu, 01 Jan 2026 00:00:00 GMT');
      response.end('fine');
    });
    const { status, body, contentType } = await probe({ target: url, module: 'http_2xx' });
    expect({ status, contentType }).toEqual({
      status: 200,
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
    });
    const lines = body.split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'probe_success 1',
        'probe_ip_protocol 4',
        'probe_http_status_code 200',
        'probe_http_version 1.1',
        'probe_http_content_length 4',
        'probe_http_uncompressed_body_length 4',
        'probe_http_redirects 0',
        'probe_http_ssl 0',
        'probe_failed_due_to_regex 0',
        `probe_http_last_modified_timestamp_seconds ${Date.UTC(2026, 0, 1) / 1000}`,
      ]),
    );
    for (const phase of ['resolve', 'connect', 'tls', 'processing', 'transfer']) {
      expect(body).toMatch(
        new RegExp(`^probe_http_duration_seconds\\{phase="${phase}"\\} \\d`, 'm'),
      );
    }
    // The exporter's default for module, and for the scheme.
    const bare = await probe({ target: url.replace('http://', '') });
    expect(bare.body).toContain('probe_success 1\n');
    // A probe is no run of a slot.
    expect(results).toEqual([]);
  });

  it('for TCP needs a target with a port, and says so', async () => {
    const { probe } = await startProbes();
    expect(await probe({ target: 'db.example', module: 'tcp' })).toMatchObject({
      status: 400,
      body: 'target must have a port for a TCP check, for example db.example:5432\n',
    });
  });

  it('with debug=true answers with the log of the run and its metrics as text', async () => {
    const { probe } = await startProbes();
    const url = await servedBy((_request, response) => void response.writeHead(503).end());
    const { status, body, contentType } = await probe({ target: url, debug: 'true' });
    expect({ status, contentType }).toEqual({
      status: 200,
      contentType: 'text/plain; charset=utf-8',
    });
    const [log = '', metrics = ''] = body.split('\n\nMetrics that would have been returned:\n');
    expect(log).toMatch(/^Logs for the probe:\n\d{4}-\d\d-\d\dT\S+Z info /);
    expect(log).toContain('503');
    expect(metrics).toContain('probe_success 0\n');
    expect((await probe({ target: url, debug: 'false' })).body).not.toContain('Logs');
  });

  it('of a target that refuses fails, and is no error of the request', async () => {
    const { probe } = await startProbes();
    const closed = await refusingPort();
    onTestFinished(() => closed.close());
    const { status, body } = await probe({ target: `127.0.0.1:${closed.port}`, module: 'tcp' });
    expect(status).toBe(200);
    expect(body).toContain('probe_success 0\n');
    expect(body).not.toContain('probe_http_');
  });

  it('reaches no address that TARGET_DENY denies', async () => {
    const { probe } = await startProbes({ TARGET_DENY: '127.0.0.0/8' });
    const target = await startSilent();
    const { body } = await probe({ target: `127.0.0.1:${target.port}`, module: 'tcp' });
    expect(body).toContain('probe_success 0\n');
    expect(target.accepted).toBe(0);
  });

  it.each<readonly [string, Readonly<Record<string, string>>]>([
    ['no target', { module: 'tcp' }],
    ['an unknown module', { module: 'http_post', target: 'http://127.0.0.1/' }],
    ['a target that is no URL', { module: 'http_2xx', target: 'http://' }],
    ['a host without a port for TCP', { module: 'tcp', target: 'db.example' }],
    ['a template in the target', { module: 'http_2xx', target: 'http://127.0.0.1/?{{{KEY}}}' }],
    ['another host for credentials', { module: 'with-token', target: 'http://127.0.0.2:9/' }],
    ['another port for credentials', { module: 'with-token', target: 'http://127.0.0.1:10/' }],
    ['another host for a variable', { module: 'with-variable', target: 'http://b/' }],
    ['another host for a setup script', { module: 'with-setup', target: 'http://127.0.0.2:9/' }],
    ['another port for a teardown', { module: 'with-teardown', target: 'http://127.0.0.1:10/' }],
  ])('is refused for %s', async (_, query) => {
    const { probe } = await startProbes();
    const { status, body } = await probe(query);
    expect(status).toBe(400);
    expect(body).toMatch(/^[^\n]+\n$/);
    expect(body).not.toContain('8c1f0d7a2b');
  });

  it('ends before Prometheus gives up', async () => {
    const { probe, clock } = await startProbes();
    const target = await startSilent();
    const answer = probe({ target: `127.0.0.1:${target.port}`, module: 'http_2xx' }, '2');
    await eventually(() => target.accepted > 0);
    await clock.advance(1_500);
    const { status, body } = await answer;
    expect(status).toBe(200);
    expect(body).toContain('probe_success 0\n');
    expect(body).toContain('probe_http_status_code 0\n');
    await target.allClosed();
    expect((await probe({ target: 'a', module: 'tcp' }, 'soon')).status).toBe(400);
  });

  it('logs nothing of a target that never answers', async () => {
    const target = await startSilent();
    const { clock, logRecords, answer } = startProbe({ target: `127.0.0.1:${target.port}` });
    await eventually(() => target.accepted > 0);
    await clock.advance(4_500);
    expect((await answer).body).toContain('probe_success 0\n');
    expect(logRecords()).toEqual([]);
  });

  it('has no verdict after a fault of the agent', async () => {
    const evaluator = {
      evaluate: () => Promise.reject(new Error('no thread')),
      close: async () => {},
    };
    const target = await servedBy((_request, response) => void response.end('fine'));
    const { answer } = startProbe({ target }, { evaluator });
    expect(await answer).toMatchObject({
      status: 503,
      body: 'the probe has no verdict: INTERNAL_ERROR\n',
    });
  });

  it('has no verdict where the agent was short of CPU, and the limit ended the repetition', async () => {
    let requests = 0;
    const target = await servedBy((_request, response) => {
      requests += 1;
      // The first response seems slow. The second one never comes.
      if (requests === 1) void clock.stall(4000).then(() => response.end('fine'));
    });
    const { clock, answer } = startProbe({ target });
    await eventually(() => requests === 2);
    await clock.advance(500);
    expect(await answer).toMatchObject({
      status: 503,
      body: 'the probe has no verdict: agent_starved\n',
    });
  });

  it('is refused while 50 others run, and ends when its client is gone', async () => {
    const { probe } = await startProbes();
    const target = await startSilent();
    const gone = new AbortController();
    const query = { target: `127.0.0.1:${target.port}`, module: 'http_2xx' };
    const others = Array.from({ length: 50 }, () => probe(query, null, gone.signal));
    expect((await probe(query)).status).toBe(503);
    gone.abort();
    await Promise.all(others);
    await target.allClosed();
  });
});
