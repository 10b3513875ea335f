import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createSecretBox, KEY_BYTES } from '../../../../../src/runtime/secret-box.ts';
import {
  readsKey,
  replicaName,
} from '../../../../../src/service/database/postgres/replica-name.ts';

const KEYS: readonly [Buffer, ...Buffer[]] = [
  randomBytes(KEY_BYTES),
  ...Array.from({ length: 9 }, () => randomBytes(KEY_BYTES)),
];

it('the name of a replica identifies its keys, as far as PostgreSQL stores it, and contains no key', () => {
  const { keyNames } = createSecretBox(KEYS);
  const name = replicaName(keyNames);
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(63);
  expect(keyNames.map((key) => readsKey(name, key))).toEqual(keyNames.map((_, i) => i < 6));
  // A replica of the previous release has the key, but cannot read everything encrypted with it.
  const before = name.replace('vedette/3', 'vedette/2');
  expect(keyNames.some((key) => readsKey(before, key))).toBe(false);
  // A later release reads what this one stores: an upgrade must not store credentials in plaintext.
  const later = name.replace('vedette/3', 'vedette/10');
  expect(keyNames.filter((key) => readsKey(later, key))).toHaveLength(6);
  for (const key of KEYS) expect(name).not.toContain(key.toString('hex').slice(0, 8));
});

it.each(['vedette', 'vedette/2', 'vedette/3', 'vedette/3 00000000', 'psql', ''])(
  'a replica named %s has no key of ours',
  (name) => {
    const { keyNames } = createSecretBox(KEYS);
    expect(keyNames.some((key) => readsKey(name, key))).toBe(false);
    expect(replicaName([])).toBe('vedette/3');
  },
);
