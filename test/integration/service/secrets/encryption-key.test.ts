import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createSecretBox } from '../../../../src/runtime/secret-box.ts';
import { openSecretBox } from '../../../../src/service/secrets/encryption-key.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';

const PLACE = ['any'];

function folder(): string {
  const { path, remove } = makeTempFolder();
  onTestFinished(remove);
  return path;
}

it('the embedded database gets a key of its own, which is kept', async () => {
  const dataDir = folder();
  const open = () => openSecretBox({ keys: null, dataDir, isEmbedded: true });
  const sealed = (await open())?.seal('text', PLACE) ?? Buffer.alloc(0);
  expect((await open())?.open(sealed, PLACE)).toBe('text');
  const file = join(dataDir, 'encryption-key');
  expect(readFileSync(file, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('an invalid key file stops the start, and is not changed', async () => {
  const dataDir = folder();
  const file = join(dataDir, 'encryption-key');
  writeFileSync(file, 'half of a k');
  await expect(openSecretBox({ keys: null, dataDir, isEmbedded: true })).rejects.toThrow(
    `${file} does not contain 64 hex digits`,
  );
  expect(readFileSync(file, 'utf8')).toBe('half of a k');
});

it('without a key, none is created for PostgreSQL: another replica would have another one', async () => {
  const dataDir = folder();
  expect(await openSecretBox({ keys: null, dataDir, isEmbedded: false })).toBeNull();
});

it('a key that is set later encrypts from then on, and the file still decrypts', async () => {
  const dataDir = folder();
  const own = await openSecretBox({ keys: null, dataDir, isEmbedded: true });
  const before = own?.seal('before', PLACE) ?? Buffer.alloc(0);
  const keys = [randomBytes(32)] as const;
  const box = await openSecretBox({ keys, dataDir, isEmbedded: true });
  expect(box?.open(before, PLACE)).toBe('before');
  const after = box?.seal('after', PLACE) ?? Buffer.alloc(0);
  expect(createSecretBox(keys).open(after, PLACE)).toBe('after');
  expect(() => own?.open(after, PLACE)).toThrow('its key is missing');
});

it('a new key can be put before the old one in the file, too', async () => {
  const dataDir = folder();
  const open = () => openSecretBox({ keys: null, dataDir, isEmbedded: true });
  const before = (await open())?.seal('before', PLACE) ?? Buffer.alloc(0);
  const file = join(dataDir, 'encryption-key');
  const key = randomBytes(32);
  writeFileSync(file, `${key.toString('hex')},${readFileSync(file, 'utf8')}`);
  const box = await open();
  expect(box?.open(before, PLACE)).toBe('before');
  const after = box?.seal('after', PLACE) ?? Buffer.alloc(0);
  expect(createSecretBox([key]).open(after, PLACE)).toBe('after');
});

it('a key file that cannot be read stops the start with one line', async () => {
  const dataDir = folder();
  mkdirSync(join(dataDir, 'encryption-key'));
  const opening = openSecretBox({ keys: null, dataDir, isEmbedded: true });
  await expect(opening).rejects.toMatchObject({
    kind: 'environment',
    message: expect.stringMatching(/^\S+encryption-key cannot be read: .*EISDIR.*$/),
  });
});
