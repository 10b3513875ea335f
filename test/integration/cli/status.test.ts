import { describe, expect, it } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { runHere } from '../../support/agent/cli.ts';
import { memoryTerminal } from '../../support/agent/memory-terminal.ts';
import { HTTP_DETAIL } from '../../support/samples/http-results.ts';
import {
  minutesAgo,
  NOW,
  resultOfRun,
  useResultsFixture,
} from '../../support/service/results-fixture.ts';
import { useRunningService } from '../../support/service/service-fixture.ts';

const timeOf = (ago: number): string => new Date(minutesAgo(ago)).toISOString();
const REFUSED = {
  hasFailures: true,
  apiCheckResult: {
    ...HTTP_DETAIL,
    response: null,
    requestError: 'it refused the connection',
    requestErrorCode: 'CONNECT_REFUSED' as const,
  },
};

describe('vedette status', () => {
  const running = useRunningService('pglite');
  const fixture = useResultsFixture(running);

  const given = async () => {
    const { features, mine, check, deliver, berlin } = fixture();
    const { key } = await features.apiKeys.create(mine.accountId, { name: 'tv', role: 'read' });
    for (const id of ['slow', 'fine']) await check(id);
    await deliver(berlin, {
      results: [
        resultOfRun({ slot: minutesAgo(3), ...REFUSED }),
        resultOfRun({ slot: minutesAgo(2), ...REFUSED }),
        resultOfRun({ checkId: 'slow', slot: minutesAgo(1), isDegraded: true, responseTime: 4000 }),
        resultOfRun({ checkId: 'fine', slot: minutesAgo(1) }),
      ],
    });
    await check('new');
    return { SERVICE_URL: `http://127.0.0.1:${running().app.port}`, API_KEY: key };
  };

  it('prints what is down, since when, where and why, and ends with 1', async () => {
    const env = await given();
    const { code, stdout, stderr } = await runHere(['status'], env);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout.split('\n').map((line) => line.split('\t'))).toEqual([
      [
        ...['failing', 'shop', timeOf(3), 'berlin', 'CONNECT_REFUSED'],
        ...['it refused the connection', 'Check shop', ''],
      ],
      ['degraded', 'slow', timeOf(1), 'berlin', '', 'took 4000 ms', 'Check slow', ''],
      [
        ...['unknown', 'new', new Date(NOW).toISOString(), 'berlin,oslo', 'no_result'],
        ...['no run has ended yet', 'Check new', ''],
      ],
      [''],
    ]);
    const down = await runHere(['status', '--down'], env);
    expect(down).toEqual({ code: 1, stderr: '', stdout: `${stdout.split('\n')[0]}\n` });
  });

  it('is as wide as the terminal, and has colours there', async () => {
    const env = await given();
    const { terminal, stdout } = memoryTerminal({ isTTY: true, columns: 100 });
    expect(await runProgram(['status'], { ...terminal, env }, () => {})).toBe(1);
    const [counts, , first, below] = stdout().split('\n');
    expect(counts).toBe(
      '\u001b[31m1 failing\u001b[39m, \u001b[33m1 degraded\u001b[39m, \u001b[33m1 unknown\u001b[39m, \u001b[32m1 passing\u001b[39m',
    );
    expect(first).toMatch(/FAIL.*Check shop \(shop\).*\(3 min\).*berlin$/);
    expect(below).toMatch(/^ {4}CONNECT_REFUSED: /);
    const plain = memoryTerminal({ isTTY: true, columns: 100 });
    const noColour = { ...env, NO_COLOR: '1' };
    await runProgram(['status'], { ...plain.terminal, env: noColour }, () => {});
    expect(plain.stdout()).not.toContain('\u001b');
    expect(
      Math.max(
        ...plain
          .stdout()
          .split('\n')
          .map(({ length }) => length),
      ),
    ).toBeLessThan(100);
  });

  it('prints the objects of the API with --output json', async () => {
    const env = await given();
    const { code, stdout } = await runHere(['status', '--output', 'json'], env);
    const [counts, ...statuses] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    const { mine } = fixture();
    const listed = await mine.get('/v1/check-statuses?state=failing&state=degraded&state=unknown');
    expect({ code, counts, statuses }).toEqual({
      code: 1,
      counts: { counts: (await mine.get('/v1/check-state-counts')).json },
      statuses: listed.json,
    });
  });

  it('says of each check whether it is muted, in a maintenance window, or acknowledged', async () => {
    const env = await given();
    const { mine } = fixture();
    const quiet = async () => {
      const { stdout } = await runHere(['status'], env);
      const lines = stdout.trimEnd().split('\n');
      return Object.fromEntries(lines.map((line) => [line.split('\t')[1], line.split('\t')[7]]));
    };
    const [alert] = (await mine.get('/v1/check-alerts?open=true&checkId=shop')).json;
    expect((await mine.post(`/v1/check-alerts/${alert.id}/acknowledge`)).status).toBe(200);
    const { json: group } = await mine.post('/v1/check-groups', { name: 'Quiet', muted: true });
    await mine.patch('/v1/checks/new', { groupId: group.id });
    await mine.patch('/v1/checks/slow', { muted: true, tags: ['moved'] });
    expect(await quiet()).toEqual({
      shop: 'acknowledged by first',
      slow: 'muted',
      new: 'muted by its group',
    });
    const window = {
      name: 'Move',
      tags: ['moved'],
      startsAt: timeOf(5),
      endsAt: timeOf(-60),
      repeatUnit: 'DAY',
    };
    const made = await mine.post('/v1/maintenance-windows', window);
    expect(made.status, made.text).toBe(201);
    expect((await quiet()).slow).toBe('muted; in maintenance');
    expect((await mine.get('/v1/check-statuses/shop')).json).toMatchObject({
      muted: false,
      mutedByGroup: false,
      inMaintenance: false,
      acknowledgement: { by: { kind: 'key', name: 'first' }, at: new Date(NOW).toISOString() },
    });
    await mine.post(`/v1/check-alerts/${alert.id}/unacknowledge`);
    expect((await quiet()).shop).toBe('');
  });

  it('ends with 0 where nothing fails, and with 2 for a key that is refused', async () => {
    const env = await given();
    const { deliver, berlin } = fixture();
    await deliver(berlin, { results: [resultOfRun({ slot: minutesAgo(1) })] });
    expect(await runHere(['status', '--down'], env)).toEqual({ code: 0, stdout: '', stderr: '' });
    const wrong = { ...env, API_KEY: `vk_${'0'.repeat(32)}` };
    const { code, stdout, stderr } = await runHere(['status'], wrong);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^vedette: the service at .* does not take the key: .*\n$/);
  });
});
