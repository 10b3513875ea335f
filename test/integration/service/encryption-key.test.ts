import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openSecretBox } from '../../../src/service/secrets/encryption-key.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';

const PLACE = ['any'];

function folder(): string {
  const { path, remove } = makeTempFolder();
  onTestFinished(remove);
  return path;
}

it('the embedded database gets a key of its own, which stays', async () => {
  const dataDir = folder();
  const open = () => openSecretBox({ keys: null, dataDir, isEmbedded: true });
  const sealed = (await open())?.seal('text', PLACE) ?? Buffer.alloc(0);
  expect((await open())?.open(sealed, PLACE)).toBe('text');
  const file = join(dataDir, 'encryption-key');
  expect(readFileSync(file, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('a key file that is none stops the start, and is left as it is', async () => {
  const dataDir = folder();
  const file = join(dataDir, 'encryption-key');
  writeFileSync(file, 'half of a k');
  await expect(openSecretBox({ keys: null, dataDir, isEmbedded: true })).rejects.toThrow(
    `${file} must hold 64 hex digits`,
  );
  expect(readFileSync(file, 'utf8')).toBe('half of a k');
});

it('without a key, PostgreSQL gets none: another replica would have another one', async () => {
  const dataDir = folder();
  expect(await openSecretBox({ keys: null, dataDir, isEmbedded: false })).toBeNull();
});
