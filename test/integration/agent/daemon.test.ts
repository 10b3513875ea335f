import { EventEmitter, once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Backend } from '../../../src/agent/backend/backend.ts';
import { createFileBackend } from '../../../src/agent/backend/file-backend.ts';
import { loadConfig } from '../../../src/agent/config/agent-config.ts';
import { NO_REPORTS } from '../../../src/agent/error-reports/disabled-reports.ts';
import { runAgent } from '../../../src/agent/main.ts';
import type { CheckListener, CheckSet } from '../../../src/agent/source/check-source.ts';
import { resultIdOf } from '../../../src/model/ids.ts';
import type { MissedSlots } from '../../../src/model/result/missed-slots.ts';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { VedetteError } from '../../../src/runtime/errors.ts';
import { StopSignals } from '../../../src/runtime/lifecycle.ts';
import { eventually } from '../../support/eventually.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { captureLog } from '../../support/log-capture.ts';
import { checkOf } from '../../support/samples/checks.ts';
import { EMPTY_SECRETS } from '../../support/samples/secrets.ts';
import { listenTcp } from '../../support/servers/tcp-servers.ts';

const GRACE_MS = 1000;

const setOf = (...checks: CheckSet['checks']): CheckSet => ({
  checks,
  clientCertificates: [],
  rotations: new Map(),
  location: 'office',
  unanswered: new Map(),
  variables: [],
  proxyUrl: null,
  pauses: [],
  groupTags: new Map(),
});

/** The whole agent, with parts of its backend replaced. */
async function startAgent(parts: (missed: MissedSlots[]) => Partial<Backend> = () => ({})) {
  const { log } = captureLog();
  const signals = new EventEmitter();
  const clock = new FakeClock();
  const stop = new StopSignals({ emitter: signals, clock, graceMs: GRACE_MS, log });
  const missed: MissedSlots[] = [];
  const watched = new EventEmitter();
  const breaking = new AbortController();
  const sink = {
    result: () => {},
    missed: (slots: MissedSlots) => void missed.push(slots),
    flush: async () => {},
  };
  const source = {
    checkFileUsable: null,
    watch: async (listener: CheckListener): Promise<void> => {
      watched.emit('listener', listener);
      await once(breaking.signal, 'abort');
      throw breaking.signal.reason;
    },
  };
  const ended = runAgent({
    config: loadConfig({ CHECKS_FILE: 'unused', AGENT_HEALTH_PORT: '0', EVIDENCE: 'off' }),
    openBackend: async () => ({ ...createFileBackend({ source, sink }), ...parts(missed) }),
    log,
    secrets: EMPTY_SECRETS,
    reports: NO_REPORTS,
    stop,
    onListening: () => {},
  });
  ended.catch(() => {});
  onTestFinished(async () => {
    signals.emit('SIGTERM');
    await ended.catch(() => {});
    stop.dispose();
  });
  const [listener] = (await once(watched, 'listener')) as [CheckListener];
  return { clock, stop, ended, missed, listener, breaking };
}

describe('the daemon', () => {
  it('ends if the delivery of results fails, as it would only look alive', async () => {
    const fault = new Error('ours');
    const { ended, stop } = await startAgent(() => ({ work: () => Promise.reject(fault) }));
    await expect(ended).rejects.toBe(fault);
    expect(stop.stopping.aborted).toBe(true);
  });

  it('waits for active runs no longer than the grace if its source has failed', async () => {
    const target = await listenTcp(() => {});
    onTestFinished(() => target.close());
    const { ended, clock, listener, breaking } = await startAgent();
    // Its answer never comes.
    const request = { port: target.port, data: 'hello' };
    listener.onChecks(setOf());
    listener.onRun({
      runId: 'run-1',
      check: checkOf('TCP', { request, maxResponseTime: 5000 }),
      reason: 'requested',
      slot: 1,
      sequenceId: 'sequence-1',
      notBefore: null,
      notAfter: Date.now() + 60_000,
      retriesMade: 0,
      firstStartedAt: null,
    });
    await eventually(() => target.accepted > 0);
    breaking.abort(new VedetteError('config', 'AGENT_REPLACED', 'another has its place'));
    await eventually(() => clock.pendingTimers > 0);
    await clock.advance(GRACE_MS);
    await expect(ended).rejects.toMatchObject({ code: 'AGENT_REPLACED' });
  });

  it('ends a run that is cancelled: closes its connection and sends a result without a verdict', async () => {
    let closed = 0;
    const target = await listenTcp((socket) => {
      // Only a socket that is read sees its end.
      socket.resume().on('error', () => {});
      socket.on('close', () => {
        closed += 1;
      });
    });
    onTestFinished(() => target.close());
    const results: CheckResult[] = [];
    const outcomes: unknown[] = [];
    const { listener, missed } = await startAgent((slots) => ({
      runEnded: (runId, outcome) => void outcomes.push([runId, outcome]),
      sink: {
        result: (result) => void results.push(result),
        missed: (one) => void slots.push(one),
        flush: async () => {},
      },
    }));
    listener.onChecks(setOf());
    const run = (runId: string, notBefore: number | null) => ({
      runId,
      // Its answer never comes.
      check: checkOf('TCP', {
        request: { port: target.port, data: 'hello' },
        maxResponseTime: 5000,
        retryStrategy: { type: 'FIXED', baseBackoffSeconds: 1, maxRetries: 2 },
      }),
      reason: 'requested' as const,
      slot: 1,
      sequenceId: runId,
      notBefore,
      notAfter: Date.now() + 600_000,
      retriesMade: 0,
      firstStartedAt: null,
    });
    listener.onRun(run('later', Date.now() + 300_000));
    listener.onRunCancelled('later');
    await eventually(() => results.length === 1);
    expect(target.accepted).toBe(0);
    listener.onRun(run('active', null));
    await eventually(() => target.accepted === 1);
    listener.onRunCancelled('active');
    await eventually(() => results.length === 2 && closed === 1);
    for (const [at, runId] of ['later', 'active'].entries()) {
      expect(results[at]).toMatchObject({
        id: resultIdOf(runId, 1),
        resultType: 'FINAL',
        isCancelled: true,
        hasFailures: false,
        hasErrors: false,
        isDegraded: false,
        tcpCheckResult: {
          requestError: 'The run was cancelled on request',
          requestErrorCode: 'CANCELLED',
        },
      });
    }
    expect(outcomes).toEqual([
      ['later', 'ended'],
      ['active', 'ended'],
    ]);
    expect(missed).toEqual([]);
  });

  it('runs a trial once, and passes its result neither to the sink nor to another location', async () => {
    const target = await listenTcp((socket) => socket.end());
    onTestFinished(() => target.close());
    const outcomes: unknown[] = [];
    const results: unknown[] = [];
    const { listener } = await startAgent((missed) => ({
      trialEnded: (trialId, outcome) => void outcomes.push({ trialId, ...outcome }),
      sink: {
        result: (result) => void results.push(result),
        missed: (slots) => void missed.push(slots),
        flush: async () => {},
      },
    }));
    listener.onChecks(setOf());
    const request = { port: target.port, assertions: [], data: 'hello' };
    const trial = {
      runId: 'trial-1',
      check: checkOf('TCP', { id: 'trial-1', request, shouldFail: true }),
      reason: 'requested',
      slot: 1,
      sequenceId: 'trial-1',
      notBefore: null,
      notAfter: Date.now() + 60_000,
      retriesMade: 0,
      firstStartedAt: null,
    } as const;
    listener.onTrial(trial);
    await eventually(() => outcomes.length > 0);
    expect(outcomes).toEqual([
      {
        trialId: 'trial-1',
        kind: 'result',
        result: expect.objectContaining({
          id: resultIdOf('trial-1', 1),
          checkId: 'trial-1',
          checkRunId: 1,
          resultType: 'FINAL',
          runLocation: 'office',
        }),
      },
    ]);
    // A run with that sequence id would be one of a check.
    listener.onTrial({ ...trial, runId: 'trial-2', sequenceId: 'trial-2', notAfter: 1 });
    await eventually(() => outcomes.length > 1);
    expect(outcomes[1]).toEqual({ trialId: 'trial-2', kind: 'missed', reason: 'agent_busy' });
    expect(results).toEqual([]);
  });

  it('reports the slots that the previous process left in small parts, and then that these are all', async () => {
    const left = Array.from({ length: 1000 }, (_, n) => {
      const slot = n * 60_000;
      return { checkId: 'db', slot, lastSlot: slot, count: 1, reason: 'agent_stopped' } as const;
    });
    const told = new EventEmitter();
    const allTold = once(told, 'all');
    const { missed, listener } = await startAgent((soFar) => ({
      leftBefore: () => left,
      ledgerIsOurs: () => void told.emit('all', soFar.length),
    }));
    let atTheNextTurn = 0;
    setImmediate(() => {
      atTheNextTurn = missed.length;
    });
    listener.onChecks(setOf());
    expect(await allTold).toEqual([1000]);
    expect(atTheNextTurn).toBeLessThan(1000);
    expect(missed).toEqual(left);
  });
});
