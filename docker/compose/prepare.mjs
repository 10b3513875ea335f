/**
 * Creates the secrets of the services in compose.yaml, each in the folder of its service, under the
 * given folder. Existing secrets stay, so every start of the stack may run it. Derived secrets are
 * written again, so replacing one is enough.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const USAGE = 'usage: prepare.mjs FOLDER DATABASE_HOST:PORT/NAME';
const [folder, database] = process.argv.slice(2);

/** Readable for the users of all images: only the container that needs a folder mounts it. */
const MODE = { folder: 0o755, file: 0o644 };

async function main() {
  if (folder === undefined || database === undefined) throw new Error(USAGE);
  const password = await keep('postgres/password', () => hex(24));
  const accessKeyId = await keep('store/ROOT_ACCESS_KEY', () => hex(10));
  const secretAccessKey = await keep('store/ROOT_SECRET_KEY', () => hex(24));
  await keep('grafana/admin-password', () => hex(12));
  await keep('service/FIRST_API_KEY', () => `vk_${hex(16)}`);
  await keep('service/ENCRYPTION_KEY', () => hex(32));
  const user = database.slice(database.lastIndexOf('/') + 1);
  await write(
    'service/DATABASE_URL',
    `postgres://${user}:${encodeURIComponent(password)}@${database}`,
  );
  await write('service/S3_ACCESS_KEY_ID', accessKeyId);
  await write('service/S3_SECRET_ACCESS_KEY', secretAccessKey);
}

/** @param {number} bytes @returns {string} */
function hex(bytes) {
  return randomBytes(bytes).toString('hex');
}

/**
 * The content of the file; if it is missing or empty, the result of `make`, which is saved.
 * @param {string} name @param {() => string} make @returns {Promise<string>}
 */
async function keep(name, make) {
  const known = await readFile(join(folder, name), 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  if (known.trim() !== '') return known.trim();
  const made = make();
  await write(name, made);
  return made;
}

/** Atomic: a reader of half a key would be locked out. @param {string} name @param {string} text */
async function write(name, text) {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true, mode: MODE.folder });
  // Hidden, because every visible file counts as a secret.
  const beside = join(dirname(path), `.${basename(path)}.new`);
  await writeFile(beside, `${text}\n`, { mode: MODE.file });
  await rename(beside, path);
}

await main().catch((error) => {
  console.error(`prepare: ${error.message}`);
  process.exitCode = 1;
});
