import { expect, it } from 'vitest';
import type {
  PostOptions,
  PostResponse,
} from '../../../../src/agent/service-client/service-client.ts';
import {
  type ServiceFailureKind,
  serviceFailure,
} from '../../../../src/agent/service-client/service-failure.ts';
import { TrialReporter } from '../../../../src/agent/trials/trial-reporter.ts';
import { trialReportSchema } from '../../../../src/wire/v1/trials.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { wireResult } from '../../../support/samples/wire-results.ts';

const RESULT = { kind: 'result', result: wireResult('trial-1') } as const;

/** A reporter whose requests fail in these ways in order, and are then accepted. */
function startReporter(...failures: readonly ServiceFailureKind[]) {
  const clock = new FakeClock();
  const { log, records } = captureLog();
  const sent: unknown[] = [];
  let epoch = 7;
  const client = {
    async post<T>(path: string, body: unknown, options: PostOptions<T>): Promise<PostResponse<T>> {
      expect(path).toBe('/agent/v1/trials');
      if (options.signal.aborted) return { ok: false, failure: serviceFailure('stopped', 'stop') };
      sent.push(trialReportSchema.parse(JSON.parse(String(body))));
      const kind = failures[sent.length - 1];
      if (kind !== undefined) return { ok: false, failure: serviceFailure(kind, kind) };
      return { ok: true, value: options.schema.parse({ accepted: true }), bytes: 1 };
    },
  };
  const reporter = new TrialReporter({
    client,
    clock,
    log,
    agentId: () => 'one',
    epoch: () => epoch,
  });
  return {
    clock,
    reporter,
    sent,
    warnings: () => records().filter(({ level }) => level === 'warn'),
    loseLease: () => {
      epoch = 0;
    },
  };
}

it('reports a result with the lease under which the trial began, and again while the service is away', async () => {
  const { clock, reporter, sent, loseLease, warnings } = startReporter('offline', 'busy', 'failed');
  reporter.began('trial-1');
  loseLease();
  reporter.report('trial-1', RESULT);
  for (let tries = 1; tries <= 3; tries += 1) {
    await eventually(() => sent.length === tries && clock.pendingTimers === 1);
    await clock.advance(clock.nextTimerInMs ?? 0);
  }
  await reporter.close(new AbortController().signal);
  expect(sent).toHaveLength(4);
  expect(new Set(sent.map((one) => JSON.stringify(one))).size).toBe(1);
  expect(sent[0]).toMatchObject({ agentId: 'one', epoch: 7, trialId: 'trial-1', missed: null });
  expect(sent[0]).toMatchObject({ result: { id: RESULT.result.id } });
  expect(warnings()).toEqual([]);
});

it('reports why a trial was not run', async () => {
  const { reporter, sent } = startReporter();
  reporter.report('trial-1', { kind: 'missed', reason: 'agent_offline' });
  reporter.report('trial-2', { kind: 'refused', problem: 'x'.repeat(1_000) });
  await reporter.close(new AbortController().signal);
  expect(sent).toEqual([
    expect.objectContaining({ result: null, missed: 'agent_offline', problem: null, epoch: 7 }),
    expect.objectContaining({ result: null, missed: 'refused', problem: 'x'.repeat(600) }),
  ]);
});

it('gives up a report that is refused, that the service no longer waits for, and at the end', async () => {
  const refused = startReporter('refused');
  refused.reporter.report('trial-1', RESULT);
  await refused.reporter.close(new AbortController().signal);
  expect(refused.sent).toHaveLength(1);
  expect(refused.warnings()).toHaveLength(1);

  const away = startReporter(...Array<ServiceFailureKind>(100).fill('offline'));
  away.reporter.report('trial-1', RESULT);
  await eventually(() => away.clock.pendingTimers === 1);
  const startMs = away.clock.monotonicMs();
  while (away.warnings().length === 0) {
    if (away.clock.nextTimerInMs !== null) await away.clock.advance(away.clock.nextTimerInMs);
    else await eventually(() => away.clock.pendingTimers === 1 || away.warnings().length > 0);
  }
  expect(away.clock.monotonicMs() - startMs).toBeLessThanOrEqual(120_000);
  expect(away.clock.pendingTimers).toBe(0);

  const ended = startReporter('offline');
  ended.reporter.report('trial-1', RESULT);
  await eventually(() => ended.clock.pendingTimers === 1);
  await ended.reporter.close(AbortSignal.abort());
  expect(ended.sent).toHaveLength(1);
  expect(ended.clock.pendingTimers).toBe(0);
});
