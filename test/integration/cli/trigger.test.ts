import { beforeEach, describe, expect, it } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import type { Role } from '../../../src/model/enums.ts';
import { runHere } from '../../support/agent/cli.ts';
import { memoryTerminal } from '../../support/agent/memory-terminal.ts';
import { eventually } from '../../support/eventually.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { HTTP_DETAIL } from '../../support/samples/http-results.ts';
import { RunsFixture, useRunsService } from '../../support/service/check-runs-fixture.ts';
import { resultOfRun, useResultsFixture } from '../../support/service/results-fixture.ts';

const FAILURE = {
  hasFailures: true,
  apiCheckResult: {
    ...HTTP_DETAIL,
    response: null,
    requestError: 'the connection was refused',
    requestErrorCode: 'CONNECT_REFUSED' as const,
  },
};

const SCREEN = { isTTY: true, columns: 120 };
const PIPE = {};

describe('vedette trigger', () => {
  const running = useRunsService('pglite');
  const fixture = useResultsFixture(running);
  let env: Readonly<Record<string, string>>;

  const envOf = async (role: Role) => {
    const { features, mine } = fixture();
    const { key } = await features.apiKeys.create(mine.accountId, { name: 'ann', role });
    return { SERVICE_URL: `http://127.0.0.1:${running().app.port}`, API_KEY: key, NO_COLOR: '1' };
  };

  beforeEach(async () => {
    env = await envOf('run');
    const { running: service, mine, berlin } = fixture();
    await new RunsFixture(service, mine.accountId).join(berlin, 'a');
  });

  /** The runs that were requested, in the order of their checks. */
  const requested = () =>
    running().store.query<{ readonly checkId: string; readonly slot: Date }>(
      'select check_id, slot from one_off_runs where account_id = $1 order by check_id',
      [fixture().mine.accountId],
    );

  /** Waits for the requests, delivers results, and lets the command poll again. */
  const triggered = async (
    args: readonly string[],
    count: number,
    fieldsOf: (checkId: string) => object,
    meanwhile = async (_clock: FakeClock, _errors: () => string): Promise<void> => {},
    screen: { readonly isTTY?: boolean; readonly columns?: number } = SCREEN,
  ) => {
    const clock = new FakeClock();
    const { terminal, stdout, stderr } = memoryTerminal(screen);
    let code: number | null = null;
    const done = runProgram(['trigger', ...args, '--wait'], { ...terminal, env, clock }, () => {});
    void done.then((ended) => {
      code = ended;
    });
    let runs = await requested();
    while (runs.length < count && code === null) runs = await requested();
    await meanwhile(clock, stderr);
    runs = await requested();
    await fixture().deliver(fixture().berlin, {
      results: runs.map(({ checkId, slot }) =>
        resultOfRun({ checkId, slot: slot.getTime(), ...fieldsOf(checkId) }),
      ),
    });
    while (code === null) {
      const isAsleep = () => (clock.nextTimerInMs ?? Number.POSITIVE_INFINITY) <= 1000;
      await eventually(() => code !== null || isAsleep());
      await running().features.groupRuns.sweep();
      if (isAsleep()) await clock.advance(1000);
    }
    return { code: await done, lines: stdout().split('\n'), stderr: stderr() };
  };

  it('requests a run and ends at once, with a line of fields for each', async () => {
    const { code, stdout, stderr } = await runHere(['trigger', '--check', 'shop'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^queued\tshop\t\t\t\t\t[0-9a-f-]{36}\t\n$/);
    expect(await requested()).toMatchObject([{ checkId: 'shop' }]);
  });

  it('waits for the result, and says what to try where the check failed', async () => {
    const args = ['--check', 'shop', '--location', 'berlin'];
    const failed = await triggered(args, 1, () => FAILURE);
    expect(failed).toMatchObject({ code: 1, stderr: '' });
    const [head, reason, advice] = failed.lines;
    expect(head).toMatch(/^FAIL {4}shop {2}in berlin {2}\d/);
    expect(reason).toBe('        CONNECT_REFUSED: the connection was refused');
    expect(advice).toMatch(/^ {8}try: Check that the service is running/);
    expect(failed.lines.at(-2)).toBe('1 run: 1 failed');
  });

  it('says in a pipe what to try, too, as the last field of the line', async () => {
    const args = ['--check', 'shop', '--location', 'berlin'];
    const { lines } = await triggered(args, 1, () => FAILURE, undefined, PIPE);
    expect(lines[0]?.split('\t')).toEqual([
      ...['failed', 'shop', 'berlin', expect.stringMatching(/^[\d.]+$/), 'CONNECT_REFUSED'],
      'CONNECT_REFUSED: the connection was refused',
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      expect.stringMatching(/^Check that the service is running/),
    ]);
  });

  it('says after a while how to find out whether an agent is connected', async () => {
    const { code, stderr } = await triggered(
      ['--check', 'shop'],
      1,
      () => ({}),
      async (clock, errors) => {
        while (errors() === '') {
          await eventually(() => (clock.nextTimerInMs ?? Number.POSITIVE_INFINITY) <= 1000);
          await clock.advance(1000);
        }
      },
    );
    expect(code).toBe(0);
    expect(stderr).toBe(
      'vedette: still waiting for shop; see whether an agent of the location is online: vedette explain shop\n',
    );
  });

  it('runs the activated checks with a tag', async () => {
    await fixture().check('cart', { tags: ['buy'] });
    await fixture().check('pay', { tags: ['buy', 'web'] });
    await fixture().check('off', { tags: ['buy'], activated: false });
    const { code, lines } = await triggered(['--tag', 'buy'], 2, () => ({}));
    expect(code).toBe(0);
    expect(lines.map((line) => line.slice(0, 12)).toSorted()).toContain('PASS    cart');
    expect(lines.at(-2)).toBe('2 runs: 2 passed');
  });

  it('goes on with the other runs where the location of one is deleted', async () => {
    const { running: service, mine, oslo } = fixture();
    await fixture().check('shop', { privateLocations: ['berlin'] });
    await fixture().check('cart', { privateLocations: ['oslo'] });
    await new RunsFixture(service, mine.accountId).join(oslo, 'b');
    const args = ['--check', 'shop', '--check', 'cart'];
    const passed = () => ({});
    const { code, lines } = await triggered(args, 2, passed, async () => {
      await fixture().check('cart', { privateLocations: ['berlin'] });
      const { status } = await mine.delete(`/v1/private-locations/${oslo.id}`);
      expect(status).toBe(204);
    });
    expect(code).toBe(1);
    expect(lines.slice(0, -3).toSorted()).toEqual([
      'EXPIRED cart  its location or its check was deleted',
      expect.stringMatching(/^PASS {4}shop {2}in berlin/),
    ]);
    expect(lines.at(-2)).toBe('2 runs: 1 passed, 1 expired');
  });

  it('runs a group by its name, and prints what it skipped', async () => {
    const { mine } = fixture();
    const { json: group } = await mine.post('/v1/check-groups', { name: 'Shop' });
    const groupId: number = group.id;
    await fixture().check('cart', { groupId, privateLocations: ['berlin'] });
    await fixture().check('off', { groupId, activated: false });
    const { code, lines } = await triggered(['--group', 'Shop'], 1, () => ({}));
    expect(code).toBe(0);
    expect(lines.slice(0, -3).toSorted()).toEqual([
      expect.stringMatching(/^PASS {4}cart {2}in berlin {2}status 200/),
      'SKIPPED off  the check is not activated',
    ]);
    expect(lines.at(-2)).toBe('2 runs: 1 passed, 1 skipped');
  });

  it('reports what the service refuses, as one object for each run with --output json', async () => {
    const args = ['trigger', '--check', 'shop', '--check', 'nothing', '--output', 'json'];
    const { code, stdout } = await runHere(args, env);
    expect(code).toBe(1);
    const runs = stdout
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(runs).toMatchObject([
      { checkId: 'shop', ending: 'queued', runId: expect.any(String) },
      { checkId: 'nothing', ending: 'refused', runId: null, note: expect.stringMatching(/check/) },
    ]);
  });

  it.each([
    [[], /^vedette: give one of --check, --tag and --group/],
    [['--check', 'shop', '--tag', 'a'], /give one of/],
    [['--tag', 'nothing'], /^vedette: no activated check has the tag "nothing"/],
    [['--group', 'nothing'], /^vedette: the service has no group "nothing"\n$/],
  ])('with %j runs nothing and says why', async (args, message) => {
    const { code, stdout, stderr } = await runHere(['trigger', ...args], env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });

  it('needs a key with the role run', async () => {
    const { code, stderr } = await runHere(['trigger', '--check', 'shop'], await envOf('read'));
    expect(code).toBe(2);
    expect(stderr).toContain('use a key with the role run');
  });
});
