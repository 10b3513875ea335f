import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { NamedTexts } from '../../../../src/agent/config/otlp-variables.ts';
import { createMetrics } from '../../../../src/agent/metrics/metrics.ts';
import { createOtlpExporter } from '../../../../src/agent/otlp/exporter.ts';
import { sequenceIdOf } from '../../../../src/model/ids.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { NO_PROXIES } from '../../../../src/runtime/net/proxy/choose-proxy.ts';
import { buildScrubber, NO_SECRETS, type Scrubber } from '../../../../src/scrub/scrubber.ts';
import { metricsText } from '../../../support/agent/metrics-text.ts';
import { runFixture } from '../../../support/agent/run-fixture.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { resultFor } from '../../../support/samples/results.ts';
import { listenOtlp, type ReceivedPoint } from '../../../support/servers/otlp/receiver.ts';

const INTERVAL_MS = 60_000;
const GATHER_MS = 5_000;
const SALT = 'one of two agents';
const RUN = sequenceIdOf('shop', 'local', 1);

interface Options {
  readonly headers?: NamedTexts;
  readonly scrubber?: Scrubber;
  /** Changes what is exported. */
  readonly checkMetrics?: () => never;
}

/** An exporter with a receiver of its own. Both end with the test. */
async function exporting({ headers = {}, scrubber = NO_SECRETS, ...given }: Options = {}) {
  const receiver = await listenOtlp();
  const clock = new FakeClock();
  const { log, records } = captureLog();
  const metrics = createMetrics({ version: '1.2.3', clock });
  const exporter = createOtlpExporter({
    config: {
      endpoint: receiver.endpoint,
      headers,
      resource: { 'service.name': 'probes' },
      metricIntervalMs: INTERVAL_MS,
      traces: true,
      proxies: NO_PROXIES,
    },
    metrics: { ...metrics, ...given },
    secrets: { scrubber },
    clock,
    log,
    version: '1.2.3',
    healthPort: 8081,
    traceSalt: SALT,
    random: () => 0,
  });
  const stop = new AbortController();
  const now = new AbortController();
  const ended = exporter.run(stop.signal, now.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await ended;
  };
  onTestFinished(async () => {
    await end();
    await receiver.close();
    expect(receiver.faults).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
  const dropped = async (signal: string, reason: string): Promise<number> => {
    const start = `vedette_otlp_dropped_total{signal="${signal}",reason="${reason}"} `;
    const line = (await metricsText(metrics)).split('\n').find((each) => each.startsWith(start));
    return Number(line?.slice(start.length));
  };
  return { receiver, clock, metrics, exporter, stop, now, ended, end, dropped, records };
}

function lineOf({ metric, attributes, value }: ReceivedPoint): string {
  const labels = Object.entries(attributes).map(([name, text]) => `${name}="${text}"`);
  return `${metric}{${labels.join(',')}} ${value}`;
}

it('exports the metrics of checks in each interval, with the values and labels of /metrics', async () => {
  const headers = { authorization: 'Bearer abc' };
  const { receiver, clock, metrics } = await exporting({ headers });
  const check = checkOf('URL', { id: 'shop', request: { url: 'https://shop.test/?a=1' } });
  metrics.setChecks([check]);
  const timingPhases = { wait: 0, dns: 2, tcp: 3, tls: 4, firstByte: 5, download: 1, total: 15 };
  metrics.finished(
    resultFor({
      checkId: 'shop',
      hasFailures: true,
      apiCheckResult: {
        requestErrorCode: 'ASSERTION_FAILED',
        response: { status: 503, timingPhases },
      } as never,
    }),
  );
  await clock.advance(INTERVAL_MS);
  await eventually(() => receiver.points.length > 0);

  const shown = (await metricsText(metrics))
    .split('\n')
    .filter((line) => /^vedette_check_\w+\{check_id=/.test(line) && !/_days_/.test(line));
  expect(shown.length).toBeGreaterThan(10);
  expect(receiver.points.map(lineOf).toSorted()).toEqual(shown.toSorted());
  expect(new Set(receiver.points.map(({ epochMs }) => epochMs))).toEqual(new Set([clock.wallMs()]));
  const unitOf = (name: string) => receiver.points.find(({ metric }) => metric === name)?.unit;
  expect(unitOf('vedette_check_response_time_seconds')).toBe('s');
  expect(unitOf('vedette_check_up')).toBeNull();
  expect(receiver.resource).toMatchObject({
    'service.name': 'probes',
    'service.version': '1.2.3',
    'service.instance.id': expect.stringMatching(/:8081$/),
  });
  expect(receiver.requests[0]?.headers).toMatchObject(headers);

  // Only the next export waits.
  await eventually(() => clock.pendingTimers === 1);
  await clock.advance(INTERVAL_MS);
  await eventually(() => receiver.points.length === 2 * shown.length);
});

it('exports a run as a span with its phases, under the ids that its target was sent', async () => {
  const { receiver, clock, exporter } = await exporting();
  const sent: unknown[] = [];
  const server = createServer((request, response) => {
    sent.push(request.headers.traceparent);
    response.end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const fixture = runFixture({ clock: systemClock, parts: { traceSalt: SALT } });
  const request = { url, traceparent: true };
  await fixture.run(checkOf('URL', { id: 'shop', name: 'Shop', request }));
  for (const result of fixture.results) exporter.result(result);
  await clock.advance(GATHER_MS);
  await eventually(() => receiver.spans.length > 0);

  const [run, ...others] = receiver.spans.filter((span) => span.parentSpanId === undefined);
  expect(others).toEqual([]);
  expect(sent).toEqual([`00-${run?.traceId}-${run?.spanId}-01`]);
  expect(run).toMatchObject({
    name: 'URL Shop',
    kind: 3,
    status: { code: 0 },
    attributes: {
      'vedette.check.id': 'shop',
      'vedette.location': 'local',
      'vedette.result': 'passed',
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'url.full': url,
    },
  });
  const phases = receiver.spans.filter(({ parentSpanId }) => parentSpanId === run?.spanId);
  expect(phases.map(({ name }) => name)).toEqual(expect.arrayContaining(['tcp', 'first_byte']));
  for (const [index, phase] of phases.entries()) {
    expect(phase.traceId).toBe(run?.traceId);
    const before = phases[index - 1]?.endTimeUnixNano ?? run?.startTimeUnixNano;
    expect(phase.startTimeUnixNano).toBe(before);
  }
});

it('exports the attempts of a run below it, if there are several', async () => {
  const { receiver, clock, exporter } = await exporting();
  const first = { startedAt: '2026-01-01T00:00:00.000Z', stoppedAt: '2026-01-01T00:00:01.000Z' };
  const last = { startedAt: '2026-01-01T00:00:03.000Z', stoppedAt: '2026-01-01T00:00:04.000Z' };
  const failed = { sequenceId: RUN, hasFailures: true } as const;
  exporter.result(resultFor({ ...failed, ...first, resultType: 'ATTEMPT', attempts: 0 }));
  exporter.result(resultFor({ ...failed, ...last, attempts: 1 }));
  await clock.advance(GATHER_MS);
  await eventually(() => receiver.spans.length > 0);

  const [one, two, run] = receiver.spans;
  expect(receiver.spans.map(({ name }) => name)).toEqual(['Attempt 1', 'Attempt 2', 'URL A check']);
  expect([one?.parentSpanId, two?.parentSpanId]).toEqual([run?.spanId, run?.spanId]);
  expect(run?.parentSpanId).toBeUndefined();
  expect(run?.startTimeUnixNano).toBe(one?.startTimeUnixNano);
  expect(run?.endTimeUnixNano).toBe(two?.endTimeUnixNano);
  expect(run?.status.code).toBe(2);
});

it('repeats what a receiver could not take, not before its Retry-After', async () => {
  const { receiver, clock, exporter, records } = await exporting();
  receiver.answers.push({ status: 503, headers: { 'retry-after': '7' }, body: 'full' });
  exporter.result(resultFor({ sequenceId: RUN }));
  await clock.advance(GATHER_MS);
  await eventually(() => clock.nextTimerInMs === 7_000);
  expect(receiver.requests).toHaveLength(1);
  await clock.advance(7_000);
  await eventually(() => receiver.spans.length === 1);
  expect(receiver.requests).toHaveLength(2);
  const warnings = records().filter(({ msg }) => String(msg).includes('cannot be exported'));
  expect(warnings).toMatchObject([{ msg: expect.stringContaining('status 503: full') }]);
});

it('counts what a receiver refuses, all of it or a part, and does not repeat it', async () => {
  const { receiver, clock, exporter, dropped } = await exporting();
  receiver.answers.push({ status: 400, body: 'no' });
  const partialSuccess = { rejectedSpans: '1', errorMessage: 'too old' };
  receiver.answers.push({ status: 200, body: JSON.stringify({ partialSuccess }) });
  for (const requests of [1, 2]) {
    exporter.result(resultFor({ sequenceId: RUN }));
    await clock.advance(GATHER_MS);
    await eventually(() => receiver.requests.length === requests);
    // The exporter is at rest again: only the next export of metrics waits.
    await eventually(() => clock.pendingTimers === 1);
  }
  expect(await dropped('traces', 'refused')).toBe(2);
});

it('drops the oldest spans if too many wait, and counts them', async () => {
  const { receiver, exporter, end, dropped } = await exporting();
  for (let runs = 0; runs < 5_002; runs += 1) {
    exporter.result(resultFor({ sequenceId: sequenceIdOf('shop', 'local', runs) }));
  }
  expect(await dropped('traces', 'queue')).toBe(2);
  await end();
  // What was under way at the end may have come twice.
  expect(new Set(receiver.spans.map(({ spanId }) => spanId)).size).toBe(5_000);
});

it('leaves out metrics until a receiver may be asked again, across intervals', async () => {
  const { receiver, clock, metrics, dropped } = await exporting();
  metrics.setChecks([checkOf('URL')]);
  metrics.finished(resultFor());
  receiver.answers.push({ status: 503, headers: { 'retry-after': '600' } });
  for (let interval = 1; interval <= 10; interval += 1) {
    await clock.advance(INTERVAL_MS);
    await eventually(() => receiver.requests.length > 0);
    // The exporter is at rest again: only the next export of metrics waits.
    await eventually(() => clock.pendingTimers === 1);
  }
  expect(receiver.requests).toHaveLength(1);
  await clock.advance(INTERVAL_MS);
  await eventually(() => receiver.points.length > 0);
  expect(await dropped('metrics', 'late')).toBe(10 * receiver.points.length);
});

it('exports the metrics of all other checks if the certificate of one has no readable date', async () => {
  const { receiver, metrics, end } = await exporting();
  metrics.setChecks([checkOf('URL', { id: 'odd' }), checkOf('URL', { id: 'good' })]);
  for (const [checkId, validTo] of [
    ['odd', 'Bad time value'],
    ['good', '2027-01-01T00:00:00.000Z'],
  ] as const) {
    const response = { status: 200, tls: { certificate: { validTo, daysRemaining: 0 } } };
    metrics.finished(resultFor({ checkId, apiCheckResult: { response } as never }));
  }
  await end();
  const shown = receiver.points.filter(({ metric }) =>
    metric.endsWith('_expiry_timestamp_seconds'),
  );
  expect(shown).toMatchObject([{ attributes: { check_id: 'good' }, value: 1_798_761_600 }]);
  const up = receiver.points.filter(({ metric }) => metric === 'vedette_check_up');
  expect(up.map(({ attributes }) => attributes.check_id).toSorted()).toEqual(['good', 'odd']);
});

it('goes on after a fault of its own in a result or in the metrics, and logs it', async () => {
  const checkMetrics = (): never => {
    throw new Error('ours');
  };
  const { receiver, clock, exporter, records } = await exporting({ checkMetrics });
  await clock.advance(INTERVAL_MS);
  exporter.result(resultFor({ stoppedAt: 'never' }));
  exporter.result(resultFor({ sequenceId: RUN }));
  await clock.advance(GATHER_MS);
  await eventually(() => receiver.spans.length === 1);
  expect(records().filter(({ msg }) => String(msg).includes('fault of the agent'))).toHaveLength(2);
});

it('counts what is left when it must stop, at once where the receiver asked to wait', async () => {
  const { receiver, clock, exporter, end, dropped } = await exporting();
  receiver.answers.push({ status: 503, headers: { 'retry-after': '600' } });
  for (let runs = 0; runs < 250; runs += 1) {
    exporter.result(resultFor({ sequenceId: sequenceIdOf('shop', 'local', runs) }));
  }
  // Answered: a request in progress has a limit of 10 s.
  await eventually(() => receiver.requests.length === 1 && (clock.nextTimerInMs ?? 0) > 10_000);
  await end();
  expect(receiver.requests).toHaveLength(1);
  expect(await dropped('traces', 'stopped')).toBe(250);
});

it('ends a second after it was asked to stop now, though the receiver does not answer', async () => {
  const { receiver, clock, exporter, stop, now, ended, dropped } = await exporting();
  receiver.holds = true;
  exporter.result(resultFor({ sequenceId: RUN }));
  stop.abort();
  await eventually(() => receiver.requests.length === 1);
  now.abort();
  await clock.advance(1_000);
  await ended;
  expect(await dropped('traces', 'stopped')).toBe(1);
});

it('masks secrets in what it exports', async () => {
  const secret = 'correct-horse-battery';
  const scrubber = await buildScrubber([secret], async () => {});
  const { receiver, metrics, exporter, end } = await exporting({ scrubber });
  metrics.setChecks([checkOf('URL', { name: `Shop ${secret}` })]);
  metrics.finished(resultFor());
  exporter.result(resultFor({ sequenceId: RUN, name: `Shop ${secret}` }));
  await end();
  expect(receiver.spans.map(({ name }) => name)).toEqual(['URL Shop ********']);
  expect(receiver.points.length).toBeGreaterThan(0);
  expect(receiver.texts.join('\n')).not.toContain(secret);
});
