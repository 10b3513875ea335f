import { writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ApiClient } from '../../../src/cli/service-api/api-client.ts';
import { FileApplier } from '../../../src/cli/up/file-applier.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { runHere } from '../../support/agent/cli.ts';
import { silentLog } from '../../support/database/databases.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { checkOf } from '../../support/samples/checks.ts';
import { locationWithAgent } from '../../support/service/live-agent.ts';
import { TEST_CHECK_VARIABLES } from '../../support/service/service-features.ts';
import { useAccounts, useRunningService } from '../../support/service/service-fixture.ts';

const WHY = '  the service never returns secrets, so they are written again\n';
const REQUEST = {
  url: 'https://user:s3cret-1@shop.test/',
  headers: [{ key: 'authorization', value: 'Bearer s3cret-2' }],
  basicAuth: { username: 'user', password: 's3cret-3' },
};

describe('the credentials of the checks of a file', () => {
  const running = useRunningService('pglite');
  const service = useAccounts(running);
  let env = { SERVICE_URL: '', API_KEY: '' };

  beforeEach(async () => {
    const { features, mine } = service();
    const { key } = await features.apiKeys.create(mine.accountId, { name: 'w', role: 'write' });
    env = { SERVICE_URL: `http://127.0.0.1:${running().app.port}`, API_KEY: key };
    await locationWithAgent(service(), { slug: 'office', name: 'Office' });
  });

  const fileOf = (request: object) => {
    const folder = makeTempFolder();
    onTestFinished(() => folder.remove());
    const path = folder.file('checks.yaml');
    const write = (other: object): void => {
      const check = { id: 'shop', checkType: 'API', request: other };
      writeFileSync(path, JSON.stringify({ checks: [check] }));
    };
    write(request);
    const apply = () => runHere(['apply', path, '--location', 'office'], env);
    return { write, apply };
  };
  /** The check as agents get it. */
  const told = async () => {
    const { store, mine } = service();
    const [row] = await store.query<{ body: Record<string, unknown>; sealed: Buffer | null }>(
      'select body, sealed_variables as sealed from checks where account_id = $1',
      [mine.accountId],
    );
    const key = { accountId: mine.accountId, id: 'shop' };
    return TEST_CHECK_VARIABLES.open(key, row?.body ?? {}, row?.sealed ?? null).request;
  };

  it('are written again each time, which the plan says', async () => {
    const file = fileOf(REQUEST);
    expect((await file.apply()).stdout).toContain('1 check created');
    expect(await told()).toMatchObject(REQUEST);
    const again = await file.apply();
    expect(again).toEqual({
      code: 0,
      stderr: '',
      stdout: `~ update shop (API)
    request.url                 "https://********@shop.test/" (written again)
    request.headers[0]          authorization: ******** (written again)
    request.basicAuth.password  "********" (written again)
${WHY}
1 check written again
`,
    });
  });

  it('are refused with a mask beside other text, which names the field', async () => {
    const file = fileOf(REQUEST);
    await file.apply();
    file.write({ ...REQUEST, headers: [{ key: 'authorization', value: 'Bearer ********' }] });
    const refused = await file.apply();
    expect(refused.code).toBe(2);
    expect(refused.stdout + refused.stderr).toMatch(
      /request\.headers\[0\]\.value of check .* must not contain \*{8}/,
    );
    expect(await told()).toMatchObject(REQUEST);
  });

  it('are updated from a changed file, and never printed', async () => {
    const file = fileOf(REQUEST);
    const texts = [(await file.apply()).stdout];
    const changed = {
      ...REQUEST,
      url: 'https://user:s3cret-4@other.test/',
      basicAuth: { username: 'user', password: 's3cret-5' },
    };
    for (const request of [
      changed,
      { ...changed, headers: [] },
      { url: 'https://other.test/' },
      { ...REQUEST, headers: [{ key: 'authorization', value: 'Bearer {{TOKEN}}' }] },
    ]) {
      file.write(request);
      const { code, stdout } = await file.apply();
      expect(code, stdout).toBe(0);
      expect(stdout).toContain('1 check updated');
      texts.push(stdout);
      expect(await told()).toMatchObject({ headers: [], basicAuth: null, ...request });
    }
    expect(texts.join()).not.toContain('s3cret');
  });

  it('that are user names alone are written again, and never shown', async () => {
    const request = {
      url: 'https://s3cret-7@shop.test/',
      basicAuth: { username: 's3cret-8', password: '' },
    };
    const file = fileOf(request);
    await file.apply();
    expect(await told()).toMatchObject(request);
    expect((await file.apply()).stdout).toBe(`~ update shop (API)
    request.url                 "https://********@shop.test/" (written again)
    request.basicAuth.username  "********" (written again)
${WHY}
1 check written again
`);
    file.write({ ...request, basicAuth: { username: 's3cret-9', password: '' } });
    const changed = await file.apply();
    expect(changed.stdout).not.toContain('s3cret');
    expect(await told()).toMatchObject({ basicAuth: { username: 's3cret-9', password: '' } });
  });

  it('that are templates make no difference', async () => {
    const file = fileOf({
      url: 'https://{{USER}}:{{PASSWORD}}@shop.test/',
      headers: [{ key: 'authorization', value: 'Bearer {{TOKEN}}' }],
      basicAuth: { username: 'user', password: '{{PASSWORD}}' },
    });
    await file.apply();
    expect((await file.apply()).stdout).toBe('nothing to change\n  1 check unchanged\n');
  });

  it('are written by vedette up only where the file changes them', async () => {
    await service().mine.post('/v1/private-locations', { slug: 'local', name: 'Local' });
    const client = new ApiClient({
      serviceUrl: new URL(env.SERVICE_URL),
      apiKey: env.API_KEY,
      clock: systemClock,
      onWait: () => {},
    });
    onTestFinished(() => client.close());
    const lines: string[] = [];
    const { signal } = new AbortController();
    const applier = new FileApplier({
      file: 'f.yaml',
      client,
      log: silentLog(),
      fromFile: { checks: [], resources: [] },
      onApplied: async () => {},
      printLine: (line) => lines.push(line),
    });
    const change = async (request: object) => {
      const checks = [checkOf('API', { id: 'shop', request })];
      expect(await applier.reapply({ checks, variables: [] }, signal)).toBe(true);
      return lines.splice(0);
    };
    expect(await change(REQUEST)).toEqual(['f.yaml has changed: 1 check created']);
    expect(await change(REQUEST)).toEqual([]);
    const basicAuth = { username: 'user', password: 's3cret-6' };
    expect(await change({ ...REQUEST, basicAuth })).toEqual([
      'f.yaml has changed: 1 check updated',
    ]);
    expect(await told()).toMatchObject({ ...REQUEST, basicAuth });
  });
});
