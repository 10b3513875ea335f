import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { composeService } from '../../support/compose/compose-file.ts';
import { DOCKER } from '../../support/compose/prometheus-files.ts';
import {
  DATABASE,
  PREPARE,
  runNode,
  type ScriptEnd,
  SETUP,
  WITH_SECRETS,
} from '../../support/compose/scripts.ts';
import { startBucketServer } from '../../support/containers/bucket-server.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import {
  newApiKey,
  type RunningService,
  startAgent,
  startService,
  until,
} from '../../support/service/deployment.ts';

/** Each test starts a service and half a dozen other processes. */
const LIMIT_MS = 120_000;
const CHECKS = join(DOCKER, 'compose/checks.yaml');

describe('setup.mjs', { timeout: LIMIT_MS }, () => {
  it('setup.mjs creates bucket, location, key and checks once, and an agent works with them', async () => {
    // More often than the object store's client retries.
    const stack = await startStack({ busyFor: 5 });
    const first = await stack.setup();
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout.match(/^setup: .+$/gm)).toEqual([
      'setup: bucket vedette: made',
      'setup: private location compose: made',
      `setup: its agents' key in ${stack.keyFile}: made`,
      `setup: checks of ${CHECKS}: applied`,
    ]);
    expect(stack.buckets).toEqual(['vedette']);
    const env = { API_KEY_FILE: stack.keyFile };
    const agent = await startAgent({ serviceUrl: stack.service.url, key: '', env });
    const { json } = await until(
      () => agent.health(),
      (health) => health.json.checks === 5,
    );
    expect(json.state).toBe('running');

    const key = readFileSync(stack.keyFile, 'utf8');
    await stack.service.ask('/v1/checks/service-ping', { method: 'DELETE' });
    const again = await stack.setup();
    expect(again.stdout.match(/: [^:\n]+$/gm)).toEqual([
      ': is there',
      ': is there',
      ': is there',
      ': left alone, as the account has checks',
    ]);
    expect(readFileSync(stack.keyFile, 'utf8')).toBe(key);
    expect((await stack.service.ask('/v1/checks')).json).toHaveLength(4);
  });

  it('setup.mjs creates a new key if the key file is lost or of another database, and reports what it cannot do', async () => {
    const stack = await startStack({ hasBucket: false });
    await stack.setup();
    writeFileSync(stack.keyFile, `pl_${'0'.repeat(32)}\n`);
    expect((await stack.setup()).stdout).toContain('key: made');
    expect(readFileSync(stack.keyFile, 'utf8')).toMatch(/^pl_(?!0{32})[0-9a-f]{32}\n$/);

    rmSync(stack.keyFile);
    const third = await stack.setup();
    expect(third.code).toBe(1);
    expect(third.stderr).toMatch(/^setup: POST .+ failed: 409 .+revoke the unused one .+\n$/);

    const strange = await stack.setup({ FIRST_API_KEY: newApiKey() });
    expect(strange.code).toBe(1);
    expect(strange.stderr).toMatch(/^setup: GET .+ failed: 401 .+\n$/);

    await stack.service.kill('SIGTERM');
    const away = await stack.setup({}, ['--wait', '0']);
    expect(away.code).toBe(1);
    expect(away.stderr).toMatch(/^setup: GET \/v1\/private-locations.+ failed: .+\n$/);
    expect((await runNode([SETUP])).stderr).toMatch(/setup: usage: .+\n$/);
  });
});

interface Stack {
  readonly service: RunningService;
  readonly keyFile: string;
  readonly buckets: readonly string[];
  setup(env?: Readonly<Record<string, string>>, args?: readonly string[]): Promise<ScriptEnd>;
}

/** The service as in compose.yaml, with files of prepare.mjs, on the embedded database. */
async function startStack({
  hasBucket = true,
  busyFor = 0,
}: {
  readonly hasBucket?: boolean;
  readonly busyFor?: number;
}): Promise<Stack> {
  const folder = makeTestFolder();
  await runNode([PREPARE, folder, DATABASE]);
  const secrets = join(folder, 'service');
  rmSync(join(secrets, 'DATABASE_URL'));
  const secret = (name: string): string => readFileSync(join(secrets, name), 'utf8').trim();
  const credentials = {
    accessKeyId: secret('S3_ACCESS_KEY_ID'),
    secretAccessKey: secret('S3_SECRET_ACCESS_KEY'),
  };
  const store = await startBucketServer(credentials, { busyFor });
  const { PORT: _, ...environment } = composeService('service').environment ?? {};
  const env = hasBucket ? { ...environment, S3_ENDPOINT: store.endpoint } : {};
  if (!hasBucket) {
    for (const name of ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY']) rmSync(join(secrets, name));
  }
  const service = await startService({
    prefix: ['sh', WITH_SECRETS, secrets],
    apiKey: secret('FIRST_API_KEY'),
    env,
  });
  const keyFile = join(folder, 'key');
  return {
    service,
    keyFile,
    buckets: store.buckets,
    setup: (more = {}, args = []) =>
      runNode(
        [SETUP, '--location=compose', `--key-file=${keyFile}`, `--checks=${CHECKS}`, ...args],
        {
          ...env,
          SERVICE_URL: service.url,
          FIRST_API_KEY: secret('FIRST_API_KEY'),
          ...(hasBucket
            ? {
                S3_ACCESS_KEY_ID: credentials.accessKeyId,
                S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
              }
            : {}),
          // It warns about Node 20, which the image does not use.
          AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
          ...more,
        },
      ),
  };
}
