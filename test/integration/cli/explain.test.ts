import { describe, expect, it } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { runHere } from '../../support/agent/cli.ts';
import { memoryTerminal } from '../../support/agent/memory-terminal.ts';
import { startAgent } from '../../support/service/live-agent.ts';
import { PollingAgent } from '../../support/service/polling-agent.ts';
import { NOW, useResultsFixture } from '../../support/service/results-fixture.ts';
import { useRunningService } from '../../support/service/service-fixture.ts';

describe('vedette explain', () => {
  const running = useRunningService('pglite');
  const fixture = useResultsFixture(running);

  const given = async () => {
    const { features, mine, check, berlin } = fixture();
    const { key } = await features.apiKeys.create(mine.accountId, { name: 'ann', role: 'read' });
    const made = await mine.post('/v1/check-groups', { name: 'Front', tags: ['web'], muted: true });
    await check('shop', {
      groupId: made.json.id,
      frequency: 1,
      frequencyOffset: 10,
      privateLocations: ['oslo', 'berlin'],
      maxResponseTime: 4000,
    });
    await mine.patch(`/v1/accounts/${mine.accountId}/alert-settings`, {
      runBasedEscalation: { failedRunThreshold: 2 },
    });
    await startAgent(fixture(), berlin.id);
    return { SERVICE_URL: `http://127.0.0.1:${running().app.port}`, API_KEY: key };
  };

  it('prints what is in effect, from where, the next slots and the agents', async () => {
    const env = await given();
    const { code, stdout, stderr } = await runHere(['explain', 'shop'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.split('\n').slice(0, -1);
    expect(lines).toEqual(
      expect.arrayContaining([
        'setting\tmuted\tyes\tgroup',
        'setting\ttags\tweb\tgroup',
        'setting\tprivateLocations\toslo, berlin\tcheck',
        'setting\tmaxResponseTime\t4000 ms\tcheck',
        'setting\tshouldFail\tno\tdefault',
        'setting\talertSettings\tafter 2 failed runs; no reminders\taccount',
        'setting\talertChannels\tno channel\tcheck',
        'agent\tberlin\tonline\tagent\t',
        'agent\toslo\tnew\t\t',
      ]),
    );
    const slots = lines.filter((line) => line.startsWith('slot\t')).map((line) => line.split('\t'));
    expect(slots.map(([, at = '']) => (Date.parse(at) - NOW) / 60_000)).toEqual([1, 2, 3, 4, 5]);
    expect(new Set(slots.map(([, , location]) => location))).toEqual(new Set(['oslo', 'berlin']));
  });

  it('names the channels that are notified of the check', async () => {
    const env = await given();
    const { mine } = fixture();
    const channel = async (name: string, fields: object): Promise<number> => {
      const config = { name, url: 'https://hooks.example/a' };
      const body = { type: 'WEBHOOK', config, ...fields };
      return (await mine.post('/v1/alert-channels', body)).json.id;
    };
    const line = async () => {
      const { stdout } = await runHere(['explain', 'shop'], env);
      return stdout.split('\n').find((each) => each.startsWith('setting\talertChannels\t'));
    };
    const board = await channel('Board', { sendFailure: false });
    await channel('On call', { subscribeAll: true });
    expect(await line()).toBe(
      'setting\talertChannels\tOn call (subscribed to all checks)\taccount',
    );
    const named = { alertChannelSubscriptions: [{ alertChannelId: board }] };
    expect((await mine.patch('/v1/checks/url/shop', named)).status).toBe(200);
    expect(await line()).toBe(
      'setting\talertChannels\tBoard (not of failures), On call (subscribed to all checks)\tcheck',
    );
  });

  it('says of an id which is a path of the API that no check can be read by it', async () => {
    const env = await given();
    for (const command of ['explain', 'history']) {
      const { code, stdout, stderr } = await runHere([command, 'api'], env);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toBe(
        'vedette: no check can be read by the id "api", which is a path of the API: create the check again under another id\n',
      );
    }
  });

  it('says which of several agents has the check, as the service assigned it, and why others have not', async () => {
    const env = await given();
    const { features, mine, berlin } = fixture();
    const caller = { accountId: mine.accountId, locationId: berlin.id, keyId: 'key' };
    const old = new PollingAgent(features.agents, caller, 'old', {
      capabilities: { types: ['ICMP'] },
    });
    const others = ['b', 'c', 'd'].map((id) => new PollingAgent(features.agents, caller, id));
    for (const agent of [old, ...others]) await agent.look();
    for (const agent of others) await agent.look();
    const { stdout } = await runHere(['explain', 'shop'], env);
    const rows = stdout.split('\n').filter((line) => line.startsWith('agent\tberlin\tonline\t'));
    const why = new Map(rows.map((row) => row.split('\t').slice(3) as [string, string]));
    expect(new Set(why.keys())).toEqual(new Set(['agent', 'b', 'c', 'd', 'old']));
    expect(why.get('old')).toBe('it cannot run URL checks; upgrade it');
    const [owner] = [...why].filter(([, problem]) => problem === '').map(([id]) => id);
    const having = others.filter(({ ids }) => ids.includes('shop')).map(({ id }) => id);
    expect(having.length > 0 ? having : ['agent']).toEqual([owner]);
    const rest = [...why].filter(([id]) => id !== 'old' && id !== owner);
    expect(rest.map(([, problem]) => problem)).toEqual(
      rest.map(
        () =>
          `agent ${owner} runs it, as the ids of check and agents and JOB_CONCURRENCY determine`,
      ),
    );
  });

  it('is a page on a terminal, and objects with --output json', async () => {
    const env = { ...(await given()), NO_COLOR: '1' };
    const { terminal, stdout } = memoryTerminal({ isTTY: true, columns: 100 });
    expect(await runProgram(['explain', 'shop'], { ...terminal, env }, () => {})).toBe(0);
    expect(stdout()).toMatch(/^Check shop \(shop\), URL\n\nSettings in effect, .*\n/);
    expect(stdout()).toMatch(/^muted +\(group Front\) +yes$/m);
    expect(stdout()).toMatch(/\n\nNext slots\n.* \(in 1 min\) {2}(?:oslo|berlin)\n/);
    expect(stdout()).toMatch(/^berlin {2}online {2}agent agent runs \d checks?, this one too$/m);
    expect(
      Math.max(
        ...stdout()
          .split('\n')
          .map(({ length }) => length),
      ),
    ).toBeLessThan(100);
    const json = await runHere(['explain', 'shop', '--output', 'json'], env);
    const objects = json.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(objects).toContainEqual({
      setting: { name: 'maxResponseTime', value: 4000, source: 'check' },
    });
  });

  it('has neither slots nor locations of a heartbeat', async () => {
    const env = await given();
    const heartbeat = { period: 1, periodUnit: 'HOURS', grace: 5, graceUnit: 'MINUTES' };
    const { json } = await fixture().mine.post('/v1/checks/heartbeats', {
      name: 'Backup',
      heartbeat,
    });
    const { code, stdout } = await runHere(['explain', json.id], env);
    expect(code).toBe(0);
    expect(stdout).toContain('setting\theartbeat\ta ping every 1 h, up to 5 min late\tcheck\n');
    expect(stdout.split('\n').filter((line) => !/^setting\t|^$/.test(line))).toEqual([]);
  });
});
