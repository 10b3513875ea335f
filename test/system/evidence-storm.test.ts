import { describe, expect, it, onTestFinished } from 'vitest';
import { evidenceProcessesOf } from '../support/process/evidence-processes.ts';
import { lacking } from '../support/process/system-needs.ts';
import { makeTestFolder } from '../support/process/test-folder.ts';
import { REAL_TIME } from '../support/real-time.ts';
import { refusingPort } from '../support/servers/tcp-servers.ts';
import { startAgent, startService, until, untilResults } from '../support/service/deployment.ts';
import { askService } from '../support/service/service-app.ts';

const lacks = lacking({ commands: ['tcpdump', 'chrt'], files: [] });
const FAILING = 40;
const AT_ONCE = 2;
/** Due in about twelve hours: of forty checks that run every hour, one is often due during the test. */
const ONCE_A_DAY = {
  frequency: 1440,
  frequencyOffset: ((new Date().getUTCHours() + 11) % 24) + 1,
} as const;

/** An agent of a service, and checks of a port that refuses connections; they run on request. */
async function deploy(count: number, env: Readonly<Record<string, string>>) {
  const { port, close } = await refusingPort();
  onTestFinished(close);
  const service = await startService();
  const { key, slug } = await service.addLocation('storm');
  const agent = await startAgent({
    serviceUrl: service.url,
    key,
    dataDir: makeTestFolder(),
    env: { JOB_CONCURRENCY: '10', ...env },
    // An agent short of CPU skips evidence first.
    prefix: REAL_TIME,
  });
  const body = { privateLocations: [slug], ...ONCE_A_DAY, retryStrategy: null, doubleCheck: false };
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const request = { hostname: '127.0.0.1', port };
    ids.push(await service.addCheck('tcp', { ...body, name: `refused ${index}`, request }));
  }
  const runAll = async () => {
    const run = (id: string) => service.ask(`/v1/checks/${id}/run`, { method: 'POST', body: {} });
    const answers = await Promise.all(ids.map(run));
    expect(answers.filter(({ status }) => status >= 300)).toEqual([]);
  };
  const metrics = async (): Promise<string> =>
    (await askService(agent.healthPort, '/metrics', { key: null })).text;
  return { service, agent, ids, runAll, metrics };
}

function counted(metrics: string, series: string): number {
  const line = metrics.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length) ?? 0);
}

/** Runs of TCP checks, whatever their results. */
function ended(metrics: string): number {
  const counts = [...metrics.matchAll(/^vedette_runs_total\{type="TCP",[^}]*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

describe.skipIf(lacks !== null)(
  `Evidence of many failures (lacking: ${lacks ?? 'nothing'})`,
  () => {
    it('evidence is collected for two results at a time, and every result arrives', async () => {
      const { service, agent, ids, runAll, metrics } = await deploy(FAILING, {});
      await runAll();
      let most = 0;
      const text = await until(metrics, (now) => {
        most = Math.max(most, evidenceProcessesOf(agent.pid, 'capture').length);
        return ended(now) === FAILING;
      });
      expect(counted(text, 'vedette_runs_total{type="TCP",result="failed"}')).toBe(FAILING);
      const made = counted(text, 'vedette_evidence_total{outcome="made"}');
      expect(made).toBeGreaterThanOrEqual(AT_ONCE);
      expect(made + counted(text, 'vedette_evidence_total{outcome="busy"}')).toBe(FAILING);
      expect(most).toBeLessThanOrEqual(AT_ONCE);
      const without = /^No trace and no capture: those of 2 other runs were under way$/m;
      let busy = 0;
      for (const id of ids) {
        const { json } = await untilResults(service.ask, id, { query: '?resultType=FINAL' });
        expect(json[0]).toMatchObject({ hasFailures: true, hasErrors: false });
        const { jobLog, pcapDataUrl } = json[0].tcpCheckResult;
        const story = jobLog.map(({ msg }: { msg: string }) => msg).join('\n');
        if (without.test(story)) busy += 1;
        // On a busy machine tcpdump may start too late; the result then reports it.
        else
          expect(story).toMatch(pcapDataUrl === null ? /^No capture: /m : /^Captured \d+ packets/m);
      }
      expect(busy).toBe(FAILING - made);
      expect(evidenceProcessesOf(agent.pid, 'capture')).toEqual([]);
    });

    it('no evidence is collected with EVIDENCE=off', async () => {
      const { service, agent, ids, runAll, metrics } = await deploy(1, { EVIDENCE: 'off' });
      await runAll();
      const [id = ''] = ids;
      const { json } = await untilResults(service.ask, id, { query: '?resultType=FINAL' });
      const { tcpCheckResult: detail } = json[0];
      expect(detail).toMatchObject({ traceroute: null, pcapDataUrl: null, jobAssets: [] });
      const story = detail.jobLog.map(({ msg }: { msg: string }) => msg).join('\n');
      expect(story).toContain('What to try: ');
      expect(story).not.toMatch(/trace|capture/i);
      expect(agent.log()).not.toMatch(/tracing network|capturing packets|is disabled/);
      const text = await metrics();
      const outcomes = ['made', 'busy'].map(
        (outcome) => `vedette_evidence_total{outcome="${outcome}"}`,
      );
      expect(outcomes.map((series) => counted(text, series))).toEqual([0, 0]);
    });
  },
);
