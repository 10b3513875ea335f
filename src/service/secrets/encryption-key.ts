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
    'The key that encrypts private keys, secret values and credentials in the database. Several apart by commas: the first encrypts, all decrypt. Unset, the embedded database has one in DATA_DIR/encryption-key; with PostgreSQL no secret can be stored, and the credentials of checks and proxies are in clear.',
  allowed: `64 hex digits, for example what: openssl rand -hex 32 prints; up to ${MAX_KEYS}, apart by commas`,
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
 * What encrypts the secrets of this service. Without a key of its own, the embedded database, which
 * no other replica shares, gets one in a file beside it that is made the first time. Where it has
 * one of its own later, the file goes on to decrypt what it encrypted before.
 *
 * @param makesKey whether the file is made where it is missing: not by what only decrypts
 * @returns null where there is no key: no secret can be stored, and credentials are stored in clear
 * @throws VedetteError where the file cannot be read, or does not hold a key
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
  // The data is gone with the process, and so may be its key.
  if (dataDir === null) return createSecretBox(keys ?? [randomBytes(KEY_BYTES)]);
  const file = join(dataDir, FILE_NAME);
  const own = await keysIn(file);
  if (keys === null && own === null && !makesKey) return null;
  if (keys === null) return createSecretBox(own ?? [await makeKey(file)]);
  return createSecretBox([...keys, ...(own ?? [])]);
}

/** Only for whoever has the folder's lock. */
async function makeKey(file: string): Promise<Buffer> {
  const made = randomBytes(KEY_BYTES);
  await replaceFile(file, `${made.toString('hex')}\n`, { durable: true });
  return made;
}

/** null where there is no such file. */
async function keysIn(file: string): Promise<Keys | null> {
  const text = await readIfThere(file);
  if (text === null) return null;
  const parsed = parseKeys(text.trim());
  if (parsed.ok) return parsed.value;
  // A new key in its place would leave all that was encrypted unreadable for good.
  throw unusable(
    `${file} must hold 64 hex digits and does not: put the file back as it was, or remove it to give up all stored secrets`,
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
