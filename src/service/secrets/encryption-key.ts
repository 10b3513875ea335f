import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Parsed } from '../../runtime/config/parsers.ts';
import type { Variable } from '../../runtime/config/variable.ts';
import { messageOf, systemCodeOf, VedetteError } from '../../runtime/errors.ts';
import { replaceFile } from '../../runtime/files/replace-file.ts';
import { createSecretBox, KEY_BYTES, type SecretBox } from '../../runtime/secret-box.ts';

const KEY = /^[0-9a-f]{64}$/i;
const MAX_KEYS = 10;
const FILE_NAME = 'encryption-key';

type Keys = readonly [Buffer, ...(readonly Buffer[])];

export const ENCRYPTION_KEY_VARIABLE: Variable<Keys | null> = {
  name: 'ENCRYPTION_KEY',
  default: null,
  whenUnset: null,
  meaning:
    'The key that encrypts private keys, secret values and credentials in the database. With several keys, separated by commas, the first encrypts and all decrypt. Unset, the embedded database has one in DATA_DIR/encryption-key; with PostgreSQL no secret can be stored, and the credentials of checks and proxies are stored unencrypted.',
  allowed: `64 hex digits, for example the output of: openssl rand -hex 32; up to ${MAX_KEYS} keys, separated by commas`,
  secret: true,
  parse: parseKeys,
};

function parseKeys(text: string): Parsed<Keys> {
  const parts = text.split(',').map((part) => part.trim());
  const wrong = parts.find((part) => !KEY.test(part));
  if (wrong !== undefined || parts.length > MAX_KEYS) return { ok: false, culprit: wrong ?? text };
  const [first, ...others] = parts.map((part) => Buffer.from(part, 'hex'));
  return first === undefined
    ? { ok: false, culprit: text }
    : { ok: true, value: [first, ...others] };
}

/**
 * Opens the box that encrypts the secrets of this service. Without ENCRYPTION_KEY, the embedded database uses a
 * key in a file next to it, which is created at the first start. After ENCRYPTION_KEY is set, the key in the file
 * still decrypts what it has encrypted.
 *
 * @param makesKey whether to create a missing file; false for commands that only decrypt
 * @returns null without a key: no secret can be stored, and credentials are stored unencrypted
 * @throws VedetteError where the file cannot be read, or does not contain a key
 */
export async function openSecretBox({
  keys,
  dataDir,
  isEmbedded,
  makesKey = true,
}: {
  readonly keys: Keys | null;
  readonly dataDir: string | null;
  readonly isEmbedded: boolean;
  readonly makesKey?: boolean;
}): Promise<SecretBox | null> {
  if (!isEmbedded) return keys === null ? null : createSecretBox(keys);
  // The data is lost when the process ends, so the key need not be saved.
  if (dataDir === null) return createSecretBox(keys ?? [randomBytes(KEY_BYTES)]);
  const file = join(dataDir, FILE_NAME);
  const own = await keysIn(file);
  if (keys === null && own === null && !makesKey) return null;
  if (keys === null) return createSecretBox(own ?? [await makeKey(file)]);
  return createSecretBox([...keys, ...(own ?? [])]);
}

/** The caller has the lock of the folder. */
async function makeKey(file: string): Promise<Buffer> {
  const made = randomBytes(KEY_BYTES);
  await replaceFile(file, `${made.toString('hex')}\n`, { durable: true });
  return made;
}

/** null if there is no such file. */
async function keysIn(file: string): Promise<Keys | null> {
  const text = await readIfThere(file);
  if (text === null) return null;
  const parsed = parseKeys(text.trim());
  if (parsed.ok) return parsed.value;
  // A new key would make everything that is encrypted permanently unreadable.
  throw unusable(
    `${file} does not contain 64 hex digits: restore the file, or remove it to give up all stored secrets`,
  );
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return null;
    throw unusable(`${file} cannot be read: ${messageOf(error)}`);
  }
}

function unusable(message: string): VedetteError {
  return new VedetteError('environment', 'ENCRYPTION_KEY_FILE', message);
}
