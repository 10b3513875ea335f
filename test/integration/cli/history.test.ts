import { describe, expect, it } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { runHere } from '../../support/agent/cli.ts';
import { memoryTerminal } from '../../support/agent/memory-terminal.ts';
import { HTTP_DETAIL } from '../../support/samples/http-results.ts';
import {
  minutesAgo,
  resultOfRun,
  useResultsFixture,
} from '../../support/service/results-fixture.ts';
import { useRunningService } from '../../support/service/service-fixture.ts';

const timeOf = (ago: number): string => new Date(minutesAgo(ago)).toISOString();
const DAY_MINUTES = 24 * 60;
const TIMEOUT = {
  hasFailures: true,
  responseTime: 30_000,
  apiCheckResult: {
    ...HTTP_DETAIL,
    response: null,
    requestError: 'it did not answer within 30 s',
    requestErrorCode: 'CONNECT_TIMEOUT' as const,
  },
};

describe('vedette history', () => {
  const running = useRunningService('pglite');
  const fixture = useResultsFixture(running);

  const given = async () => {
    const { features, mine, deliver, berlin } = fixture();
    const { key } = await features.apiKeys.create(mine.accountId, { name: 'ann', role: 'read' });
    await deliver(berlin, {
      results: [
        resultOfRun({ slot: minutesAgo(3 * DAY_MINUTES) }),
        resultOfRun({ slot: minutesAgo(2), resultType: 'ATTEMPT', ...TIMEOUT }),
        resultOfRun({ slot: minutesAgo(2), attempts: 1, ...TIMEOUT }),
        resultOfRun({ slot: minutesAgo(1), isDegraded: true, responseTime: 4000 }),
      ],
    });
    return { SERVICE_URL: `http://127.0.0.1:${running().app.port}`, API_KEY: key };
  };

  it('prints the last runs, also those of days ago, as lines of fields', async () => {
    const env = await given();
    const { code, stdout, stderr } = await runHere(['history', 'shop'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n').map((line) => line.split('\t'))).toEqual([
      ['degraded', timeOf(1), '4000', 'berlin', '1', '', '4000 ms, over 3000 ms: degraded'],
      [
        ...['failed', timeOf(2), '30000', 'berlin', '2', 'CONNECT_TIMEOUT'],
        'CONNECT_TIMEOUT: it did not answer within 30 s',
      ],
      ['passed', timeOf(3 * DAY_MINUTES), '11.75', 'berlin', '1', '', 'status 200'],
      [''],
    ]);
    const one = await runHere(['history', 'shop', '--limit', '1'], env);
    expect(one.stdout).toBe(`${stdout.split('\n')[0]}\n`);
  });

  it('is a table on a terminal, and the runs of the API with --output json', async () => {
    const env = { ...(await given()), NO_COLOR: '1' };
    const { terminal, stdout } = memoryTerminal({ isTTY: true, columns: 120 });
    expect(await runProgram(['history', 'shop'], { ...terminal, env }, () => {})).toBe(0);
    const lines = stdout().split('\n');
    expect(lines.slice(0, 2)).toEqual(['Check shop (shop), URL', '']);
    expect(lines[3]).toMatch(/^FAIL {2}.* {2}30\.0 s +berlin {2}2 attempts {2}CONNECT_TIMEOUT: it/);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(120);
    const json = await runHere(['history', 'shop', '--limit', '2', '--output', 'json'], env);
    const printed = json.stdout.trimEnd().split('\n');
    const { json: listed } = await fixture().mine.get('/v1/checks/shop/runs?limit=2');
    expect(printed.map((line) => JSON.parse(line) as unknown)).toEqual(listed);
  });

  it('prints the events of a heartbeat', async () => {
    const env = await given();
    const rhythm = { period: 1, periodUnit: 'HOURS', grace: 0, graceUnit: 'MINUTES' };
    const { json } = await fixture().mine.post('/v1/checks/heartbeats', {
      name: 'Backup',
      heartbeat: rhythm,
    });
    const none = await runHere(['history', json.id], env);
    expect(none).toEqual({ code: 0, stdout: '', stderr: '' });
    await running().app.ask(new URL(json.heartbeat.pingUrl).pathname, { key: null });
    const { stdout } = await runHere(['history', json.id], env);
    expect(stdout).toMatch(/^RECEIVED\t\S+Z\t1\t.*\n$/);
  });

  it.each(['nothing', '..', 'a/../b', ''])('ends for a check that is not there: %j', async (id) => {
    const env = await given();
    const { code, stdout, stderr } = await runHere(['history', id], env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      id === ''
        ? /^vedette: .*It must not be empty; see vedette --help\n$/
        : /^vedette: the service has no check with the id ".+"\n$/,
    );
  });
});
