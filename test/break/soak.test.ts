import { expect, it } from 'vitest';
import { errorsIn } from '../support/agent/doomed-agent.ts';
import { lacking } from '../support/process/system-needs.ts';
import { makeTestFolder } from '../support/process/test-folder.ts';
import { startAgent, startService, until } from '../support/service/deployment.ts';
import { addSoakChecks, SECRET_VARIABLE } from './support/soak/checks.ts';
import { newSecret, startSoakClients } from './support/soak/clients.ts';
import { allOf, type Counted, growthIn, growthOf, summaryOf } from './support/soak/flatness.ts';
import { INSPECTED, inspect } from './support/soak/inspector.ts';
import {
  AGENT_CENSUS,
  AGENT_RULES,
  ASKED_RUNS,
  SERVICE_CENSUS,
  SERVICE_RULES,
} from './support/soak/rules.ts';
import { type Sample, takeCensus, takeSample, type Watched } from './support/soak/sampler.ts';
import { judgeSlots, type Span } from './support/soak/slots.ts';
import { startTargets } from './support/soak/targets.ts';
import { startPulse } from './support/storm/pulse.ts';

/** 1 runs every path, 10 is for nightly runs, 60 for a release. */
const MINUTES = Number(process.env.SOAK_MINUTES ?? 1);
const MINUTE_MS = 60_000;
const COUNTS = { often: 170, minutely: 104 };
const SHORTLY_MS = 1_000;
const SAMPLES = 30;
/** The interval of samples is a share of the whole, within these limits. */
const [SOONEST_MS, LATEST_MS] = [1_500, 15_000];
/** Start, drain and evaluation. */
const BESIDES_MS = 3 * MINUTE_MS;

const lacks = lacking({ commands: ['tcpdump', 'traceroute'], files: [] });
const SLUG = 'soak';
/**
 * The agent discards an attempt in which it stands still for longer: src/agent/README.md,
 * "Timing and CPU starvation".
 */
const NOTICED_MS = 250;
/** The allowed share of runs missed because of it: none on an otherwise idle machine. */
const MAX_STOOD_STILL = 0.1;

it.skipIf(lacks !== null)(
  `agent and service run under load for ${MINUTES} min without leaks or lost slots (lacking: ${lacks ?? 'nothing'})`,
  async () => {
    const targets = await startTargets();
    const dataDir = makeTestFolder();
    const service = await startService({
      dataDir,
      // The default: it is stopped for longer than the other tests' leases last.
      env: { ...INSPECTED, LEASE_SECONDS: '15' },
    });
    const { key } = await service.addLocation(SLUG);
    const post = async (path: string, body: object) => {
      const reply = await service.ask(path, { method: 'POST', body });
      if (reply.status !== 201) throw new Error(`POST ${path}: ${reply.status} ${reply.text}`);
      return reply.json;
    };
    await post('/v1/variables', { key: SECRET_VARIABLE, value: newSecret(), secret: true });
    const checks = await addSoakChecks(service, targets.ports, SLUG, COUNTS);
    const heard = checks.filter(({ id }) => id.startsWith('flapping-'));
    const rhythm = { period: 30, periodUnit: 'SECONDS', grace: 0, graceUnit: 'SECONDS' };
    const heartbeat = (name: string) => post('/v1/checks/heartbeats', { name, heartbeat: rhythm });
    const [pinged, silent] = [await heartbeat('pinged'), await heartbeat('silent')];
    const pathOf = (beat: { heartbeat: { pingToken: string } }): string =>
      `/heartbeat/${beat.heartbeat.pingToken}`;
    await post('/v1/alert-channels', {
      type: 'WEBHOOK',
      config: { name: 'hook', url: `http://127.0.0.1:${targets.ports.http}/hook` },
      subscriptions: [...heard, silent].map(({ id }) => ({ checkId: id })),
    });
    await service.ask(pathOf(silent), { key: null });

    const agentDir = makeTestFolder();
    // A run that hangs at the stop is cancelled, and its slot missed.
    const env = { ...INSPECTED, SHUTDOWN_GRACE_SECONDS: '5' };
    const options = { serviceUrl: service.url, key, dataDir: agentDir, env };
    const agent = await startAgent(options);
    await agent.logged(/"scheduled":[1-9].*checks loaded/);
    const afterMs = Date.now();
    const [serviceInspector, agentInspector] = [await inspect(service), await inspect(agent)];
    const watched: readonly Watched[] = [
      {
        running: agent,
        inspector: agentInspector,
        port: agent.healthPort,
        metrics: [
          'vedette_running',
          'vedette_queued',
          'vedette_spool_records',
          'vedette_spool_bytes',
          'vedette_checks',
          'nodejs_eventloop_lag_p99_seconds',
        ],
      },
      {
        running: service,
        inspector: serviceInspector,
        port: service.port,
        metrics: ['vedette_service_http_requests_in_flight', 'nodejs_eventloop_lag_p99_seconds'],
      },
    ];
    const pulse = await startPulse();
    const clients = startSoakClients({ service, slug: SLUG, checks, pingPath: pathOf(pinged) });

    const endMs = afterMs + MINUTES * MINUTE_MS;
    const everyMs = Math.min(LATEST_MS, Math.max(SOONEST_MS, (MINUTES * MINUTE_MS) / SAMPLES));
    const samples: [Sample[], Sample[]] = [[], []];
    const standstills: Span[] = [];
    const timed = async <Value>(look: () => Promise<Value>): Promise<Value> => {
      const fromMs = Date.now();
      const value = await look();
      if (Date.now() - fromMs > NOTICED_MS) standstills.push({ fromMs, toMs: Date.now() });
      return value;
    };
    const last = (of: readonly Sample[]): Sample => of.at(-1) ?? {};
    const count = async (): Promise<readonly [Counted, Counted]> => {
      const [agentCensus, serviceCensus] = [
        await timed(() => takeCensus(agentInspector)),
        await timed(() => takeCensus(serviceInspector)),
      ];
      return [
        { census: agentCensus, sample: last(samples[0]) },
        { census: serviceCensus, sample: last(samples[1]) },
      ];
    };
    let warm: readonly [Counted, Counted] | null = null;
    for (let dueMs = afterMs; dueMs < endMs; dueMs += everyMs) {
      await until(
        async () => Date.now(),
        (nowMs) => nowMs >= dueMs,
      );
      for (const [index, one] of watched.entries()) {
        const sample = await timed(() => takeSample(one));
        samples[index]?.push({ ...sample, [ASKED_RUNS]: clients.done.runs ?? 0 });
        const stoodMs = await pulse.latestMs();
        if (stoodMs > NOTICED_MS) standstills.push({ fromMs: dueMs, toMs: Date.now() });
      }
      if (Date.now() - afterMs >= (endMs - afterMs) / 3) warm ??= await count();
    }

    const upToMs = Date.now();
    await clients.stop();
    const [warmAgent, warmService] = warm ?? (await count());
    const [endAgent, endService] = await count();
    const { hooks } = await targets.counts();
    await until(
      async () => (await agent.health()).json,
      // Everything due by then is delivered.
      ({ spoolOldestSeconds: age }) => age === null || age * 1000 < Date.now() - upToMs - 1000,
    );
    await Promise.all([agentInspector.close(), serviceInspector.close()]);
    expect(await agent.kill('SIGTERM')).toBe(0);
    expect(await service.kill('SIGTERM')).toBe(0);

    const series = [
      { name: 'agent', samples: samples[0] },
      { name: 'service', samples: samples[1] },
    ] as const;
    console.info(series.map(summaryOf).join('\n'));
    console.info(
      JSON.stringify([warmAgent, endAgent, warmService, endService].map(({ census }) => census)),
    );
    const growth = [
      ...growthIn(series[0], AGENT_RULES),
      ...growthIn(series[1], SERVICE_RULES),
      ...growthOf('agent', [warmAgent, endAgent], AGENT_CENSUS),
      ...growthOf('service', [warmService, endService], SERVICE_CENSUS),
    ];
    if (growth.length > 0) console.info(series.map(allOf).join('\n'));
    const verdict = await judgeSlots({ dataDir }, checks, {
      // It logs that it has its checks shortly before it begins.
      afterMs: afterMs + SHORTLY_MS,
      upToMs,
      standstills,
    });
    const { finals, missedSlots, stoodStill, artifacts } = verdict;
    const counts = { finals, missedSlots, stoodStill, artifacts, standstills: standstills.length };
    console.info(JSON.stringify({ ...counts, done: clients.done, hooks }));
    expect(clients.troubles).toEqual([]);
    expect([...errorsIn(agent.log()), ...errorsIn(service.log())]).toEqual([]);
    expect(verdict).toMatchObject({ unanswered: [], double: [], missed: [] });
    expect(stoodStill).toBeLessThanOrEqual(finals * MAX_STOOD_STILL);
    expect(samples.flat().filter(({ ready }) => ready !== 1)).toEqual([]);
    expect(growth).toEqual([]);
    // Without any use, all of this would prove nothing.
    expect(finals).toBeGreaterThan(checks.length);
    expect(hooks).toMatchObject({ ALERT_FAILURE: expect.any(Number) });
    expect(artifacts).toBeGreaterThan(0);
  },
  MINUTES * MINUTE_MS + BESIDES_MS,
);
