import { writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { runHere } from '../../../../support/agent/cli.ts';
import { databases } from '../../../../support/database/databases.ts';
import { makeTempFolder } from '../../../../support/process/temp-folder.ts';
import { locationWithAgent } from '../../../../support/service/live-agent.ts';
import { useAccounts, useRunningService } from '../../../../support/service/service-fixture.ts';

const TCP = { checkType: 'TCP', request: { hostname: 'a.example', port: 80 } };
const RHYTHM = { period: 1, periodUnit: 'DAYS', grace: 2, graceUnit: 'HOURS' };

const sorted = (names: readonly string[]): readonly string[] =>
  names.toSorted((one, other) => (one < other ? -1 : 1));

let pages = 0;

/** One resource of each kind. All files use the same logical ids. */
function contentOf(suffix: string) {
  return {
    alertChannels: [{ id: 'ops', type: 'EMAIL', config: { address: `${suffix}@example.com` } }],
    groups: [{ id: 'all', name: suffix }],
    heartbeats: [{ id: `job-${suffix}`, heartbeat: RHYTHM }],
    checks: [{ id: `home-${suffix}`, ...TCP, groupId: 'all' }],
    statusServices: [{ id: 'web', name: suffix, checkIds: [`home-${suffix}`] }],
    statusPages: [
      { id: 'main', url: `named-${++pages}`, cards: [{ name: 'All', services: ['web'] }] },
    ],
    maintenanceWindows: [
      { id: 'release', startsAt: '2030-01-01', endsAt: '2030-01-02', repeatUnit: 'DAY' },
    ],
  };
}

function checkFile(content: object) {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  const path = folder.file('checks.json');
  const write = (next: object): void => writeFileSync(path, JSON.stringify(next, null, 2));
  write(content);
  return { path, write };
}

describe.each(databases)('vedette apply of several files on %s', (kind) => {
  const running = useRunningService(kind);
  const service = useAccounts(running);
  let env: Readonly<Record<string, string>> = {};
  const apply = (path: string, ...flags: readonly string[]) =>
    runHere(['apply', path, ...flags], env);
  /** The logical ids of everything that files made, in the order of their names. */
  const made = async (): Promise<readonly string[]> => {
    const { mine } = service();
    const lists = [
      '/v1/checks',
      '/v1/alert-channels',
      '/v1/check-groups',
      '/v1/status-pages/services',
      '/v1/status-pages',
      '/v1/maintenance-windows',
    ];
    const found: string[] = [];
    for (const path of lists) {
      const { json } = await mine.get(`${path}?limit=100`);
      found.push(...json.map(({ logicalId }: { logicalId?: string }) => `${path} ${logicalId}`));
    }
    return sorted(found);
  };

  beforeEach(async () => {
    const { features, mine } = service();
    const { key } = await features.apiKeys.create(mine.accountId, { name: 'ci', role: 'write' });
    env = { SERVICE_URL: `http://127.0.0.1:${running().app.port}`, API_KEY: key };
    await locationWithAgent(service(), { slug: 'office', name: 'Office' });
  });

  it('--prune of a file with a name deletes only what that file made', async () => {
    const { mine } = service();
    await mine.put('/v1/checks/tcp/by-hand', {
      ...TCP,
      name: 'By hand',
      privateLocations: ['office'],
    });
    const shop = checkFile({ name: 'shop', ...contentOf('shop') });
    const bank = checkFile({ name: 'bank', ...contentOf('bank') });
    const plain = checkFile(contentOf('plain'));
    for (const { path } of [shop, bank, plain]) {
      expect(await apply(path)).toMatchObject({ code: 0, stderr: '' });
    }
    const before = await made();
    expect(before).toContain('/v1/checks shop/home-shop');
    expect(before).toContain('/v1/checks bank/job-bank');
    expect(before).toContain('/v1/status-pages bank/main');
    expect(before).toContain('/v1/status-pages main');

    const same = await apply(shop.path, '--prune');
    expect(same).toMatchObject({ code: 0, stdout: expect.stringMatching(/^nothing to change\n/) });
    expect(await made()).toEqual(before);

    shop.write({ name: 'shop', statusServices: [{ id: 'web', name: 'shop' }] });
    const kept = await apply(shop.path);
    expect(kept.stdout).toContain('  1 check of the service is not in the file and stays; --prune');
    const pruned = await apply(shop.path, '--prune');
    expect(pruned).toMatchObject({ code: 0, stderr: '' });
    const left = before.filter((name) => !/ shop\//.test(name) || name.endsWith(' shop/web'));
    expect(await made()).toEqual(left);
    expect((await mine.get('/v1/checks/by-hand')).status).toBe(200);
  });

  it('--prune of a file without a name leaves alone what files with names made', async () => {
    const { mine } = service();
    await mine.put('/v1/checks/tcp/by-hand', {
      ...TCP,
      name: 'By hand',
      privateLocations: ['office'],
    });
    const shop = checkFile({ name: 'shop', ...contentOf('shop') });
    const plain = checkFile(contentOf('plain'));
    await apply(shop.path);
    await apply(plain.path);
    const ofShop = (await made()).filter((name) => / shop\//.test(name));
    plain.write({ checks: [{ id: 'only', ...TCP }] });
    expect(await apply(plain.path, '--prune')).toMatchObject({ code: 0, stderr: '' });
    expect(await made()).toEqual(sorted([...ofShop, '/v1/checks undefined']));
    // A file without a name manages all checks of the account, as before.
    expect((await mine.get('/v1/checks/by-hand')).status).toBe(404);
  });

  it('a file that gets a name takes over what it made without one, and nothing is made twice', async () => {
    const content = contentOf('shop');
    const file = checkFile(content);
    await apply(file.path);
    file.write({ name: 'shop', ...content });
    const named = await apply(file.path, '--prune');
    expect(named).toMatchObject({
      code: 0,
      stderr: `vedette: ${file.path} takes over checks or heartbeats that no file with a name manages: home-shop, job-shop; choose other ids in the file for those that it did not make\n`,
    });
    expect(named.stdout).not.toMatch(/^[+-] /m);
    expect((await made()).filter((name) => !/ shop\//.test(name))).toEqual([]);
    expect(await apply(file.path, '--prune')).toMatchObject({
      stdout: expect.stringMatching(/^nothing to change\n/),
      stderr: '',
    });
  });

  it('a file with a name says which check it takes over from a user, also with --dry-run', async () => {
    const { mine } = service();
    const byHand = { ...TCP, name: 'By hand', privateLocations: ['office'] };
    await mine.put('/v1/checks/tcp/by-hand', byHand);
    const file = checkFile({ name: 'shop', checks: [{ id: 'by-hand', ...TCP }] });
    const { code, stderr } = await apply(file.path, '--dry-run');
    expect(code).toBe(0);
    expect(stderr).toContain(
      ' takes over checks or heartbeats that no file with a name manages: by-hand;',
    );
    const plain = checkFile({ checks: [{ id: 'by-hand', ...TCP }] });
    expect(await apply(plain.path, '--dry-run')).toMatchObject({ code: 0, stderr: '' });
  });

  it('a file does not change a check or heartbeat of a file with another name', async () => {
    const shop = checkFile({ name: 'shop', ...contentOf('shop') });
    await apply(shop.path);
    const before = await made();
    const taken = {
      checks: [{ id: 'home-shop', ...TCP, name: 'Mine' }],
      heartbeats: [{ id: 'job-shop', name: 'Mine', heartbeat: RHYTHM }],
    };
    for (const other of [taken, { name: 'bank', ...taken }]) {
      const { code, stderr } = await apply(checkFile(other).path);
      expect(code).toBe(1);
      expect(stderr).toContain('check "home-shop" belongs to the check file with the name "shop"');
      expect(stderr).toContain(
        'heartbeat "job-shop" belongs to the check file with the name "shop"',
      );
    }
    expect(await made()).toEqual(before);
  });

  it('a file of status pages only is applied, and its --prune deletes no check', async () => {
    const { mine } = service();
    await mine.put('/v1/checks/tcp/by-hand', {
      ...TCP,
      name: 'By hand',
      privateLocations: ['office'],
    });
    const { statusPages, statusServices } = contentOf('pages');
    const [service0] = statusServices;
    const file = checkFile({
      statusPages,
      statusServices: [{ ...service0, checkIds: ['by-hand'] }],
    });
    expect((await runHere(['validate', file.path], env)).stdout).toContain(
      ': 1 status service, 1 status page, no problems',
    );
    const first = await apply(file.path, '--prune');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toContain('1 status service created, 1 status page created');
    expect((await apply(file.path, '--prune')).stdout).toMatch(
      /^nothing to change\n {2}1 status service unchanged\n {2}1 status page unchanged\n$/,
    );
    expect((await mine.get('/v1/checks/by-hand')).status).toBe(200);

    const run = await runHere(['run', file.path], env);
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('has no checks') });
  });
});
