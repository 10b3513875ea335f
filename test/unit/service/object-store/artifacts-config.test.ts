import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/runtime/clock.ts';
import {
  openArtifactStore,
  readArtifactsConfig,
} from '../../../../src/service/object-store/artifacts-config.ts';
import { silentLog } from '../../../support/database/databases.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';

const GIB = 1024 ** 3;
const deps = { clock: systemClock, log: silentLog() };

function temporaryFolders(): readonly string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('vedette-artifacts-'));
}

describe('the settings of artifacts', () => {
  it('need nothing', () => {
    expect(readArtifactsConfig({ S3_BUCKET: ' ', AWS_REGION: 'x' })).toEqual({
      s3: null,
      limits: { accountBytes: 100 * GIB, locationBytes: 25 * GIB },
    });
  });

  it('take limits, with a bucket or without', () => {
    const env = { ARTIFACTS_MAX_GIB: '7', ARTIFACTS_MAX_GIB_PER_LOCATION: '3' };
    const limits = { accountBytes: 7 * GIB, locationBytes: 3 * GIB };
    expect(readArtifactsConfig(env)).toEqual({ s3: null, limits });
    expect(readArtifactsConfig({ ...env, S3_BUCKET: 'files' }).limits).toEqual(limits);
  });

  it('take a bucket alone', () => {
    expect(readArtifactsConfig({ S3_BUCKET: 'files' }).s3).toEqual({
      bucket: 'files',
      prefix: '',
      region: 'us-east-1',
      endpoint: null,
      pathStyle: false,
      credentials: null,
      direct: null,
    });
  });

  it('take all of it', () => {
    const env = {
      S3_BUCKET: 'files',
      S3_PREFIX: 'vedette/eu/',
      S3_REGION: 'eu-central-1',
      S3_ENDPOINT: 'http://minio:9000/',
      S3_ACCESS_KEY_ID: 'id',
      S3_SECRET_ACCESS_KEY: 'hunter2',
      S3_FORCE_PATH_STYLE: 'ON',
      S3_DIRECT_UPLOAD: 'true',
      S3_DIRECT_ENDPOINT: 'https://files.example.com',
    };
    expect(readArtifactsConfig(env).s3).toEqual({
      bucket: 'files',
      prefix: 'vedette/eu/',
      region: 'eu-central-1',
      endpoint: 'http://minio:9000',
      pathStyle: true,
      credentials: { accessKeyId: 'id', secretAccessKey: 'hunter2' },
      direct: { endpoint: 'https://files.example.com', expiresMs: 3_600_000 },
    });
  });

  it.each([
    [{ ARTIFACTS_MAX_GIB: '0' }, 'ARTIFACTS_MAX_GIB is "0"; it must be a whole number from 1 to'],
    [
      { ARTIFACTS_MAX_GIB_PER_LOCATION: '1.5' },
      'ARTIFACTS_MAX_GIB_PER_LOCATION is "1.5"; it must be a whole number',
    ],
    [{ S3_BUCKET: 'a/b' }, 'S3_BUCKET is "a/b"; it must be the name of a bucket'],
    [{ S3_BUCKET: 'files', S3_PREFIX: '../' }, 'S3_PREFIX is "../"'],
    [{ S3_BUCKET: 'files', S3_ENDPOINT: 'minio:9000' }, 'S3_ENDPOINT is "minio:9000"'],
    [{ S3_BUCKET: 'files', S3_ENDPOINT: 'http://minio/path' }, 'S3_ENDPOINT is'],
    [{ S3_BUCKET: 'files', S3_ENDPOINT: 'http://u:hunter@minio' }, 'S3_ENDPOINT contains'],
    [{ S3_BUCKET: 'files', S3_ENDPOINT: 'http://minio?x' }, 'S3_ENDPOINT contains'],
    [{ S3_BUCKET: 'files', S3_ENDPOINT: 'http://*.minio' }, 'S3_ENDPOINT is'],
    [{ S3_BUCKET: 'files', S3_FORCE_PATH_STYLE: 'yes' }, 'it must be on or off'],
    [
      { S3_BUCKET: 'files', S3_ACCESS_KEY_ID: 'id' },
      'S3_ACCESS_KEY_ID is set and S3_SECRET_ACCESS_KEY is not: set both or neither',
    ],
    [
      { S3_BUCKET: 'files', S3_SECRET_ACCESS_KEY: 'hunter2' },
      'S3_SECRET_ACCESS_KEY is set and S3_ACCESS_KEY_ID is not: set both or neither',
    ],
    [{ S3_BUCKET: 'files', S3_SECRET_ACCESS_KEY: 'hunter 2' }, 'S3_SECRET_ACCESS_KEY is malformed'],
    [{ S3_ENDPOINT: 'http://minio:9000' }, 'S3_ENDPOINT is set and S3_BUCKET is not'],
    [
      { S3_BUCKET: 'files', S3_DIRECT_ENDPOINT: 'http://minio' },
      'S3_DIRECT_ENDPOINT has no effect unless S3_DIRECT_UPLOAD is on',
    ],
  ])('refuse %j with one line', (env, text) => {
    const read = () => readArtifactsConfig(env);
    expect(read).toThrow(expect.objectContaining({ kind: 'config', code: 'CONFIG_INVALID' }));
    expect(read).toThrow(text);
    expect(read).not.toThrow(/hunter|\n/);
  });
});

describe('the store of artifacts', () => {
  it('is a bucket if one is named', async () => {
    const config = readArtifactsConfig({ S3_BUCKET: 'files', S3_ENDPOINT: 'http://127.0.0.1:1' });
    const store = await openArtifactStore({ ...config, dataDir: '/nowhere' }, deps);
    expect(store.kind).toBe('s3');
    await store.close();
  });

  it('is a folder of DATA_DIR if no bucket is named, which is kept at the end', async () => {
    const folder = makeTempFolder();
    const store = await openArtifactStore({ s3: null, dataDir: folder.path }, deps);
    await store.close();
    expect([store.kind, existsSync(join(folder.path, 'artifacts'))]).toEqual(['local-disk', true]);
    folder.remove();
  });

  it('is a temporary folder without DATA_DIR, which is removed at the end', async () => {
    const before = temporaryFolders();
    const store = await openArtifactStore({ s3: null, dataDir: null }, deps);
    const [made = ''] = temporaryFolders().filter((name) => !before.includes(name));
    expect([store.kind, existsSync(join(tmpdir(), made, 'scratch'))]).toEqual(['local-disk', true]);
    await store.close();
    expect(existsSync(join(tmpdir(), made))).toBe(false);
  });
});
