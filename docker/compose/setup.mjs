/**
 * Sets up a new service: the bucket of its artifacts, a private location, a key for the location's
 * agents in a file, and the checks of a file if the account has none. Existing things stay, so every
 * start of the stack may run it.
 *
 * It reads SERVICE_URL, FIRST_API_KEY and the S3_ variables of the service. It waits up to two minutes
 * until service and store respond, and ends with 1 and one line if something fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const MAIN = join(import.meta.dirname, '../../dist/cli/main.js');
const USAGE = 'usage: setup.mjs --location SLUG --key-file FILE [--checks FILE] [--wait SECONDS]';
const PAUSE_MS = 1000;
const PAGE = 100;
/** Not ready, or too busy: worth another attempt. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

const { values: options } = parseArgs({
  options: {
    location: { type: 'string' },
    'key-file': { type: 'string' },
    checks: { type: 'string' },
    wait: { type: 'string', default: '120' },
  },
});
const { env } = process;
const giveUpAt = Date.now() + Number(options.wait) * 1000;

async function main() {
  const { location: slug, 'key-file': keyFile, checks } = options;
  if (slug === undefined || keyFile === undefined) throw new Error(USAGE);
  if (env.S3_BUCKET) say(`bucket ${env.S3_BUCKET}: ${await ensureBucket()}`);
  const location = await ensureLocation(slug);
  say(`private location ${slug}: ${location.outcome}`);
  say(`its agents' key in ${keyFile}: ${await ensureKey(location.id, keyFile)}`);
  if (checks !== undefined) say(`checks of ${checks}: ${await ensureChecks(checks, slug)}`);
}

/** @returns {Promise<string>} the outcome, for the log */
async function ensureBucket() {
  // It is large, and not needed if artifacts are in a folder.
  const { CreateBucketCommand, HeadBucketCommand, S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({
    endpoint: env.S3_ENDPOINT,
    region: env.S3_REGION ?? 'us-east-1',
    forcePathStyle: env.S3_FORCE_PATH_STYLE === 'on',
    credentials: {
      accessKeyId: env.S3_ACCESS_KEY_ID ?? '',
      secretAccessKey: env.S3_SECRET_ACCESS_KEY ?? '',
    },
  });
  const bucket = { Bucket: env.S3_BUCKET };
  try {
    return await patiently(`the bucket at ${env.S3_ENDPOINT}`, async () => {
      try {
        await client.send(new HeadBucketCommand(bucket));
        return 'is there';
      } catch (error) {
        if (statusOf(error) !== 404) throw error;
        await client.send(new CreateBucketCommand(bucket));
        return 'made';
      }
    });
  } finally {
    client.destroy();
  }
}

/** @param {string} slug @returns {Promise<{ id: string, outcome: string }>} */
async function ensureLocation(slug) {
  const found = (await all('/v1/private-locations')).find((one) => one.slug === slug);
  if (found !== undefined) return { id: found.id, outcome: 'is there' };
  const made = await api('POST', '/v1/private-locations', { slug, name: slug });
  return { id: made.id, outcome: 'made' };
}

/**
 * Replaces a key in the file that the service does not know, because its database is new.
 * @param {string} locationId @param {string} file @returns {Promise<string>}
 */
async function ensureKey(locationId, file) {
  const path = `/v1/private-locations/${locationId}/keys`;
  const kept = (await readFile(file, 'utf8').catch(() => '')).trim();
  const keys = await all(path);
  const isKnown = keys.some((key) => key.revokedAt === null && kept.startsWith(key.prefix));
  if (isKnown) return 'is there';
  const { key } = await api('POST', path);
  // Atomic: the agents may read it while it is written.
  await writeFile(`${file}.new`, `${key}\n`, { mode: 0o644 });
  await rename(`${file}.new`, file);
  return 'made';
}

/** @param {string} file @param {string} slug @returns {Promise<string>} */
async function ensureChecks(file, slug) {
  const known = await api('GET', '/v1/checks?limit=1');
  if (known.length > 0) return 'left alone, as the account has checks';
  const child = spawn(process.execPath, [MAIN, 'apply', file, '--location', slug], {
    env: { ...env, API_KEY: env.FIRST_API_KEY },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (part) => {
    errors += part;
  });
  const [code] = await once(child, 'close');
  // If it succeeds, it only warns that the location has no agents: they start after this.
  if (code === 0) return 'applied';
  process.stderr.write(errors);
  throw new Error(`applying ${file} failed: see above`);
}

/** @param {string} path @returns {Promise<readonly any[]>} every page of a list */
async function all(path) {
  const items = [];
  for (let page = 1; ; page += 1) {
    const some = await api('GET', `${path}?limit=${PAGE}&page=${page}`);
    items.push(...some);
    // Not at a short page: entries deleted meanwhile are missing in it.
    if (some.length === 0) return items;
  }
}

/**
 * @param {string} method @param {string} path @param {unknown} [body]
 * @returns {Promise<any>} the answer's body
 */
function api(method, path, body) {
  return patiently(`${method} ${path}`, async () => {
    const response = await fetch(new URL(path, env.SERVICE_URL), {
      method,
      headers: {
        authorization: `Bearer ${env.FIRST_API_KEY}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    const text = await response.text();
    if (!response.ok) throw Object.assign(new Error(messageIn(text)), { status: response.status });
    return JSON.parse(text);
  });
}

/**
 * Retries without a response, and after a response that asks to try later.
 * @template T @param {string} what @param {() => Promise<T>} attempt @returns {Promise<T>}
 */
async function patiently(what, attempt) {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const status = statusOf(error);
      const isPassing = status === undefined || PASSING.has(status);
      if (!isPassing || Date.now() >= giveUpAt) {
        const answer = status === undefined ? '' : `${status} `;
        throw new Error(`${what} failed: ${answer}${reasonOf(error)}`);
      }
    }
    await wait(PAUSE_MS);
  }
}

/** @param {string} text the body of a refusal @returns {string} */
function messageIn(text) {
  try {
    return JSON.parse(text).message ?? text;
  } catch {
    return text;
  }
}

/** @param {any} error @returns {number | undefined} */
function statusOf(error) {
  return error.status ?? error.$metadata?.httpStatusCode;
}

/** @param {any} error @returns {string} */
function reasonOf(error) {
  return error.cause?.message ?? error.message;
}

/** @param {string} line */
function say(line) {
  console.log(`setup: ${line}`);
}

await main().catch((error) => {
  console.error(`setup: ${error.message}`);
  process.exitCode = 1;
});
