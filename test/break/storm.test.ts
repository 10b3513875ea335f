import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cpuMsOf } from '../bench/cpu-time.ts';
import { quantile } from '../bench/row.ts';
import { errorsIn } from '../support/agent/doomed-agent.ts';
import { slotFaults } from '../support/agent/slot-verdict.ts';
import { evidenceProcessesOf } from '../support/process/evidence-processes.ts';
import { lacking } from '../support/process/system-needs.ts';
import { makeTestFolder } from '../support/process/test-folder.ts';
import { startAgent, until } from '../support/service/deployment.ts';
import { PERIOD_SECONDS, type StormCheck, stormChecks } from './support/storm/checks.ts';
import { GROUPS, type Group, stormFixture } from './support/storm/fixture.ts';
import { type Pulse, startPulse } from './support/storm/pulse.ts';
import {
  latenessOf,
  type Span,
  type StormRecords,
  slotRecordsOf,
} from './support/storm/records.ts';
import { stormFaults } from './support/storm/verdict.ts';
import { type Waiting, watchWaiting } from './support/storm/waiting.ts';

const lacks = lacking({
  commands: ['ip', 'nft', 'sysctl', 'mount', 'tcpdump', 'traceroute'],
  files: [],
});
/** 10 in nightly runs: the storm lasts until all of its checks have failed permanently. */
const FACTOR = Number(process.env.BREAK_FACTOR ?? 1);
const COUNTS: Readonly<Record<Group, number>> = {
  healthy: 100,
  dropped: 500,
  reset: 500,
  nameless: 500,
};
/** The maximum: each check with dropped packets has a permit for the 30 s of its attempt. */
const JOB_CONCURRENCY = '1000';
/** In the warm-up, all code runs for the first time. */
const SETTLE_MS = 6_000;
const SHORTLY_MS = 1_000;
/** Each check once. */
const CALM_MS = PERIOD_SECONDS * 1000;
const STORM_MS = FACTOR > 1 ? 95_000 : 36_000;
/**
 * The short storm ends when the first attempts have ended, and the next ones soon connect; in a
 * long one some attempts have always sent their last packet and wait for the end of their 30 s.
 */
const AFTERMATH_MS = FACTOR > 1 ? 34_000 : 6_000;
const RECOVERY_MS = AFTERMATH_MS + PERIOD_SECONDS * 1000 + 1_000;
/** The guarantee; on a slow machine a multiple of the time before the storm. */
const LATE_MS = 100;
const CALM_FACTOR = 3;
/** src/agent/README.md, "Evidence: traceroute and packet capture"; ending a process takes time as well. */
const EVIDENCE_AT_ONCE = 2;
const EVIDENCE_MS = 10_000;
const GRACE_MS = 3_000;
const MAX_CAPTURE_BYTES = 5 * 1024 * 1024;

it.skipIf(lacks !== null)(
  `a storm of failures does not delay healthy checks (lacking: ${lacks ?? 'nothing'})`,
  { timeout: STORM_MS + 150_000 },
  async () => {
    const checks = stormChecks(COUNTS);
    const fixture = await stormFixture();
    const service = await fixture.startService(checks.map(({ assignment }) => assignment));
    const [dataDir, tempDir] = [makeTestFolder(), makeTestFolder()];
    mkdirSync(join(tempDir, 'empty'));
    const agent = await startAgent({
      serviceUrl: service.url,
      key: `pl_${'0'.repeat(32)}`,
      dataDir,
      prefix: fixture.prefix,
      env: { JOB_CONCURRENCY, TMPDIR: join(tempDir, 'empty') },
    });
    await agent.logged(new RegExp(`"scheduled":${checks.length},"msg":"checks loaded"`));
    // It logs this shortly before it begins.
    const startMs = Date.now() + SHORTLY_MS;
    const pulse = await startPulse();
    const own = watchEvidenceProcesses(agent.pid);
    const waiting = watchWaiting(agent.pid);
    const pass = (ms: number): Promise<Period> =>
      passTime(ms, agent.pid, { pulse, waiting, look: own.look });

    await pass(SETTLE_MS);
    const calm = await pass(CALM_MS);
    const calmFiles = openFiles(agent.pid);
    const outbreak = await timed(() => fixture.breakOut());
    const storm = await pass(STORM_MS);
    const end = await timed(() => fixture.calmDown());
    const recovery = await pass(RECOVERY_MS);
    const endMs = Date.now();

    // Hung runs leave nothing open: the open connections belong to current runs.
    await until(
      async () => openFiles(agent.pid),
      (files) => files <= calmFiles + COUNTS.healthy,
    );
    const read = await until(
      async () => readMetrics(fixture.ask(agent.healthPort, '/metrics')),
      // Everything due by then is delivered.
      (value) => value('vedette_spool_oldest_age_seconds') * 1000 < Date.now() - endMs - 1000,
    );
    expect(await agent.kill('SIGTERM')).toBe(0);
    expect(evidenceProcessesOf(agent.pid, 'capture')).toEqual([]);
    expect(evidenceProcessesOf(agent.pid, 'traceroute')).toEqual([]);
    expect(readdirSync(join(tempDir, 'empty'))).toEqual([]);

    const records = await service.taken();
    const starved = read('vedette_starved_attempts_total');
    const [made, busy] = ['made', 'busy'].map((outcome) =>
      read(`vedette_evidence_total{outcome="${outcome}"}`),
    );
    const shed = read('vedette_shed_total{what="evidence"}');
    console.info(tableOf({ calm, storm, recovery }, records, checks));
    console.info(
      JSON.stringify({ results: records.results.length, starved, made, busy, shed, ...own.most }),
    );
    const watched = { fromMs: startMs, toMs: endMs };
    const stoodStill = starved > 0;
    expect(
      stormFaults(records, checks, {
        outbreak,
        end,
        aftermathMs: AFTERMATH_MS,
        watched,
        stoodStill,
      }),
    ).toEqual({
      falseAlarms: [],
      wrong: [],
      missed: [],
      silent: [],
    });
    const slots = {
      checkIds: checks.map(({ id }) => id),
      afterMs: startMs,
      upToMs: endMs,
      periodSeconds: PERIOD_SECONDS,
    } as const;
    expect(slotFaults(slotRecordsOf(records), slots)).toEqual({
      unanswered: [],
      double: [],
      unplanned: [],
    });

    const lost = new Set(checks.filter((check) => check.losesNetwork).map(({ id }) => id));
    const failed = records.results.filter(
      ({ checkId, isFinal, code }) => isFinal && code !== null && lost.has(checkId),
    );
    expect(failed.filter(({ wasBusy }) => wasBusy).length).toBe(busy);
    // An agent short of CPU skips evidence first.
    expect(failed.length).toBe((made ?? 0) + (busy ?? 0) + shed);
    expect(failed.filter(({ traced }) => traced).length).toBeGreaterThan(0);
    expect(failed.filter(({ captured }) => captured).length).toBeGreaterThan(0);
    expect(Math.max(...records.artifactBytes)).toBeLessThanOrEqual(MAX_CAPTURE_BYTES);
    expect(own.most.captures).toBeLessThanOrEqual(EVIDENCE_AT_ONCE);
    expect(own.most.traceroutes).toBeLessThanOrEqual(EVIDENCE_AT_ONCE);
    expect(own.most.lifeMs).toBeLessThanOrEqual(EVIDENCE_MS + GRACE_MS);
    expect(records.reports).toBe(0);
    expect(errorsIn(agent.log())).toEqual([]);

    const late = (span: Span): number => Math.max(...latenessOf(records, checks, 'healthy', span));
    // Delays of the whole machine are not the agent's.
    const machineMs = storm.pulseMs + storm.waitedMs;
    const most = Math.max(LATE_MS + machineMs, CALM_FACTOR * late(calm));
    expect(late(storm)).toBeLessThanOrEqual(most);
  },
);

interface Period extends Span {
  /** The agent's. */
  readonly cpuMs: number;
  /** The latest wake-up of an unrelated process. */
  readonly pulseMs: number;
  /** The longest time within a second that the agent waited for a processor. */
  readonly waitedMs: number;
}

async function passTime(
  ms: number,
  agentPid: number,
  { pulse, waiting, look }: { readonly pulse: Pulse; readonly waiting: Waiting; look(): void },
): Promise<Period> {
  const [fromMs, cpuMs] = [Date.now(), cpuMsOf(agentPid)];
  await pulse.latestMs();
  await until(
    async () => {
      waiting.look();
      look();
    },
    () => Date.now() >= fromMs + ms,
  );
  const span = { fromMs, toMs: Date.now() };
  const [pulseMs, waitedMs] = [await pulse.latestMs(), waiting.mostMs()];
  return { ...span, cpuMs: cpuMsOf(agentPid) - cpuMs, pulseMs, waitedMs };
}

async function timed(act: () => Promise<void>): Promise<Span> {
  const fromMs = Date.now();
  await act();
  return { fromMs, toMs: Date.now() };
}

/** Evidence processes: the maximal number at once, and the longest life. */
function watchEvidenceProcesses(agentPid: number) {
  const most = { captures: 0, traceroutes: 0, lifeMs: 0 };
  const born = new Map<number, number>();
  let nextLookMs = 0;
  return {
    most,
    look(): void {
      const nowMs = Date.now();
      if (nowMs < nextLookMs) return;
      nextLookMs = nowMs + LOOK_EVERY_MS;
      const captures = evidenceProcessesOf(agentPid, 'capture');
      const traceroutes = evidenceProcessesOf(agentPid, 'traceroute');
      most.captures = Math.max(most.captures, captures.length);
      most.traceroutes = Math.max(most.traceroutes, traceroutes.length);
      for (const pid of [...captures, ...traceroutes]) {
        const sinceMs = born.get(pid) ?? nowMs;
        born.set(pid, sinceMs);
        most.lifeMs = Math.max(most.lifeMs, nowMs - sinceMs);
      }
    },
  };
}

/** Each scan reads about every process of the machine. */
const LOOK_EVERY_MS = 200;

function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function readMetrics(text: string): (series: string) => number {
  const values = new Map(
    text.split('\n').map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space))];
    }),
  );
  return (series) => values.get(series) ?? Number.NaN;
}

function tableOf(
  periods: Readonly<Record<string, Period>>,
  records: StormRecords,
  checks: readonly StormCheck[],
): string {
  const lines = Object.entries(periods).flatMap(([name, period]) => {
    const ms = period.toMs - period.fromMs;
    const cpu = ((period.cpuMs / ms) * 100).toFixed(1);
    const [pulse, waited] = [period.pulseMs.toFixed(0), period.waitedMs.toFixed(0)];
    const rows = GROUPS.map((group) => {
      const late = latenessOf(records, checks, group, period);
      const figures = [0.5, 0.99, 1].map((share) => quantile(late, share).toFixed(0).padStart(8));
      return `  ${group.padEnd(10)}${String(late.length).padStart(8)}${figures.join('')}`;
    });
    const title = `${name}: ${(ms / 1000).toFixed(0)} s, CPU of the agent ${cpu} %, waiting up to ${waited} ms in a second, others woken up to ${pulse} ms late`;
    return [title, ...rows];
  });
  return ['Lateness of first attempts in ms: count, p50, p99, max', ...lines].join('\n');
}
