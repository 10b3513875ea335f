import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CheckResult } from '../../../../../src/model/result/result.ts';
import { createConfiguredAnalyses } from '../../../../../src/service/root-cause/create-feature.ts';
import type { ModelConfig } from '../../../../../src/service/root-cause/root-cause-config.ts';
import { databases } from '../../../../support/database/databases.ts';
import { captureLog, type LogCapture } from '../../../../support/log-capture.ts';
import { withoutAnswer } from '../../../../support/samples/root-cause-cases.ts';
import {
  ANALYSIS,
  answering,
  type ModelServer,
  replying,
  startModelServer,
} from '../../../../support/servers/model-server.ts';
import {
  minutesAgo,
  resultOfRun,
  useResultsFixture,
} from '../../../../support/service/results-fixture.ts';
import { testFeatures } from '../../../../support/service/service-features.ts';
import { useRunningService } from '../../../../support/service/service-fixture.ts';

const NEVER = new AbortController().signal;
const FIRST_PAGE = { limit: 100, page: 1, checkId: null, errorGroupId: null };

/** Root cause analyses of a model beside those of the rules. */
describe.each(databases)('on %s', (kind) => {
  describe('root cause analyses of a model', () => {
    const fixture = useResultsFixture(useRunningService(kind));
    let server: ModelServer;
    let logs: LogCapture;
    const open: (() => Promise<void>)[] = [];
    beforeEach(async () => {
      server = await startModelServer();
      logs = captureLog();
      open.push(server.close);
    });
    afterEach(async () => {
      for (const close of open.splice(0)) await close();
    });

    function analyses(config: Partial<ModelConfig> = {}, secrets: readonly string[] = []) {
      const { store, clock } = fixture();
      const made = createConfiguredAnalyses({
        store,
        clock,
        log: logs.log,
        ids: randomUUID,
        retentionDays: 30,
        rootCause: {
          model: {
            url: server.url,
            apiKey: null,
            model: 'a-model',
            timeoutMs: 20_000,
            dailyLimit: 100,
            ...config,
          },
        },
        secretsOf: async () => secrets,
      });
      const stopped = AbortSignal.abort();
      // After the last work the stop only closes the connections.
      open.unshift(() => made.maintain(stopped));
      return made;
    }

    const failure = (code: 'CONNECT_REFUSED' | 'DNS_NXDOMAIN', minutes = 1): CheckResult =>
      resultOfRun({ slot: minutesAgo(minutes), hasFailures: true, ...withoutAnswer(code) });

    async function listed(of: ReturnType<typeof analyses>): Promise<readonly string[]> {
      const found = await of.list(fixture().mine.accountId, FIRST_PAGE);
      return found
        .map(({ made }) => `${made?.provider} ${made?.model} ${made?.analysis.classification}`)
        .toSorted();
    }

    const warnings = (): readonly string[] =>
      logs
        .records()
        .filter(({ level }) => level === 'warn' || level === 40)
        .map(({ msg }) => String(msg));

    it('come after those of the rules, for each new error group', async () => {
      const { deliver, berlin } = fixture();
      await deliver(berlin, { results: [failure('CONNECT_REFUSED'), failure('DNS_NXDOMAIN', 2)] });
      const made = analyses();
      await made.makePending(NEVER);
      expect(await listed(made)).toEqual([
        'openai a-model SERVER_ERROR',
        'openai a-model SERVER_ERROR',
        'rules rules-1 CONNECTION_FAILURE',
        'rules rules-1 DNS_FAILURE',
      ]);
      await made.makePending(NEVER);
      expect(server.requests).toHaveLength(2);
    });

    it('do not send secrets of the account', async () => {
      const { deliver, berlin } = fixture();
      const said = withoutAnswer('CONNECT_REFUSED', { requestError: 'It said swordfish to me' });
      const failed = resultOfRun({ slot: minutesAgo(1), hasFailures: true, ...said });
      await deliver(berlin, { results: [failed] });
      await analyses({}, ['swordfish']).makePending(NEVER);
      const sent = server.requests.map(({ bytes }) => bytes.toString()).join('\n');
      expect(sent).toContain('It said ******** to me');
      expect(sent).not.toContain('swordfish');
    });

    it('do not send texts that became secrets of the account or the check after they were stored', async () => {
      const { deliver, berlin, check, mine, store, clock } = fixture();
      const said = withoutAnswer('CONNECT_REFUSED', { requestError: 'It said swordfish, marlin' });
      await deliver(berlin, {
        results: [resultOfRun({ slot: minutesAgo(1), hasFailures: true, ...said })],
      });
      await mine.post('/v1/variables', { key: 'A', value: 'swordfish', secret: true });
      await check('shop', { variables: [{ key: 'B', value: 'marlin', secret: true }] });
      const model = { apiKey: null, model: 'a-model', timeoutMs: 20_000, dailyLimit: 100 };
      const { features, close } = await testFeatures(store, clock, {
        config: {
          leaseMs: 15_000,
          retentionDays: 30,
          staticIpv6s: [],
          rootCause: { model: { ...model, url: server.url } },
        },
      });
      open.unshift(close, () => features.rootCauseAnalyses.maintain(AbortSignal.abort()));
      await features.rootCauseAnalyses.makePending(NEVER);
      const sent = server.requests.map(({ bytes }) => bytes.toString()).join('\n');
      expect(sent).toContain('It said ********, ********');
      expect(sent).not.toMatch(/swordfish|marlin/);
    });

    it('are made by the model by default, and by the rules on request', async () => {
      const { deliver, berlin, mine } = fixture();
      await deliver(berlin, { results: [failure('CONNECT_REFUSED')] });
      const made = analyses();
      const byModel = await made.create(mine.accountId, { checkId: 'shop' });
      const byRules = await made.create(mine.accountId, { checkId: 'shop', provider: 'rules' });
      await made.makePending(NEVER);
      expect((await made.read({ accountId: mine.accountId, id: byModel.id })).made?.provider).toBe(
        'openai',
      );
      expect((await made.read({ accountId: mine.accountId, id: byRules.id })).made?.provider).toBe(
        'rules',
      );
    });

    it.each([
      ['is unusable', answering('{}'), 'response was unusable: its analysis'],
      ['is a refusal', replying(403), 'status 403'],
    ])(
      'a model whose response %s leaves the analysis to the rules, and the log says so',
      async (_name, reply, said) => {
        const { deliver, berlin, mine } = fixture();
        await deliver(berlin, { results: [failure('CONNECT_REFUSED')] });
        server.reply = reply;
        const made = analyses();
        const asked = await made.create(mine.accountId, { checkId: 'shop', provider: 'openai' });
        await made.makePending(NEVER);
        // The automatic analysis exists already, so no second one is made.
        expect(await listed(made)).toEqual([
          'rules rules-1 CONNECTION_FAILURE',
          'rules rules-1 CONNECTION_FAILURE',
        ]);
        expect((await made.read({ accountId: mine.accountId, id: asked.id })).made?.provider).toBe(
          'rules',
        );
        expect(warnings().filter((text) => text.includes(said))).toHaveLength(2);
        expect(warnings()[0]).toContain("kept the rules' analysis");
      },
    );

    it('are limited for each day, whatever fails, and the rules make the rest', async () => {
      const { deliver, berlin, check, mine, clock } = fixture();
      const ids = Array.from({ length: 30 }, (_, number) => `check-${number}`);
      for (const id of ids) await check(id);
      const failing = ids.map((checkId) =>
        resultOfRun({
          slot: minutesAgo(1),
          checkId,
          hasFailures: true,
          ...withoutAnswer('CONNECT_REFUSED'),
        }),
      );
      await deliver(berlin, { results: failing });
      const made = analyses({ dailyLimit: 5 });
      await made.makePending(NEVER);
      expect(server.requests).toHaveLength(5);
      const all = await listed(made);
      expect(all.filter((one) => one.startsWith('rules'))).toHaveLength(30);
      expect(all.filter((one) => one.startsWith('openai'))).toHaveLength(5);
      expect(warnings().filter((text) => text.includes('RCA_DAILY_LIMIT'))).toHaveLength(1);
      const asked = await made.create(mine.accountId, { checkId: 'check-1', provider: 'openai' });
      await made.makePending(NEVER);
      expect((await made.read({ accountId: mine.accountId, id: asked.id })).made?.provider).toBe(
        'rules',
      );
      clock.stepWall(86_400_000);
      await made.create(mine.accountId, { checkId: 'check-1', provider: 'openai' });
      await made.makePending(NEVER);
      clock.stepWall(-86_400_000);
      expect(server.requests).toHaveLength(6);
    });

    it('are made once by several replicas at the same time', async () => {
      const { deliver, berlin, check } = fixture();
      const ids = Array.from({ length: 12 }, (_, number) => `check-${number}`);
      for (const id of ids) await check(id);
      const failing = ids.map((checkId) =>
        resultOfRun({
          slot: minutesAgo(1),
          checkId,
          hasFailures: true,
          ...withoutAnswer('CONNECT_REFUSED'),
        }),
      );
      await deliver(berlin, { results: failing });
      const replicas = [analyses(), analyses(), analyses()];
      await Promise.all(replicas.map((one) => one.makePending(NEVER)));
      // One replica may scan while the other still makes the last ones by the rules.
      for (const one of replicas) await one.makePending(NEVER);
      expect(server.requests).toHaveLength(12);
      const [one] = replicas;
      expect(one === undefined ? [] : await listed(one)).toHaveLength(24);
    });

    it('are left for another replica when the service stops', async () => {
      const { deliver, berlin } = fixture();
      await deliver(berlin, { results: [failure('CONNECT_REFUSED')] });
      const stopping = new AbortController();
      server.reply = () => stopping.abort();
      await analyses().makePending(stopping.signal);
      const other = analyses();
      server.reply = answering(ANALYSIS);
      await other.makePending(NEVER);
      expect(await listed(other)).toEqual([
        'openai a-model SERVER_ERROR',
        'rules rules-1 CONNECTION_FAILURE',
      ]);
    });

    it('that a service with a model left behind are settled by one without', async () => {
      const { deliver, berlin, mine, features } = fixture();
      await deliver(berlin, { results: [failure('CONNECT_REFUSED')] });
      const asked = await analyses().create(mine.accountId, { checkId: 'shop' });
      await features.rootCauseAnalyses.makePending(NEVER);
      const made = await features.rootCauseAnalyses.read({
        accountId: mine.accountId,
        id: asked.id,
      });
      expect(made.made?.provider).toBe('rules');
      expect(server.requests).toHaveLength(0);
    });
  });
});
