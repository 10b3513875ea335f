import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { oneOf, type Parsed, webOrigin, wholeNumber } from '../../runtime/config/parsers.ts';
import { readVariable, textOf } from '../../runtime/config/read-variable.ts';
import type { Environment, Variable } from '../../runtime/config/variable.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { loadSequentially } from '../../runtime/load-sequentially.ts';
import type { Proxies } from '../../runtime/net/proxy/choose-proxy.ts';
import type { ArtifactStore, ArtifactStoreParts } from './artifact-store.ts';
import { diskError } from './errors.ts';
import { openLocalDisk } from './local-disk/local-disk.ts';
import type { S3Options } from './s3/s3-client.ts';

/** Limits on the size of artifacts and open uploads. */
export interface ArtifactLimits {
  /** The limit of each account. */
  readonly accountBytes: number;
  /** The limit of each location. */
  readonly locationBytes: number;
}

/** Where artifacts are stored, and their limits. */
export interface ArtifactsConfig {
  /** Null for a folder. */
  readonly s3: S3Options | null;
  readonly limits: ArtifactLimits;
}

const GIB = 1024 ** 3;
const MAX_GIB = 1_000_000;
const DEFAULT_ACCOUNT_GIB = 100;
const DEFAULT_LOCATION_GIB = 25;

export const DEFAULT_ARTIFACT_LIMITS: ArtifactLimits = {
  accountBytes: DEFAULT_ACCOUNT_GIB * GIB,
  locationBytes: DEFAULT_LOCATION_GIB * GIB,
};

/** How long a signed URL for a part is valid. */
const DIRECT_UPLOAD_MS = 3_600_000;
/** Amazon S3 User Guide, "Bucket naming rules"; other stores allow more, and none allows a slash. */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/;
const REGION = /^[A-Za-z0-9-]{1,64}$/;
const FLAG = 'on or off';

const variable = <Value>(row: Variable<Value>): Variable<Value> => row;

/** Every variable about artifacts that the service reads. */
export const ARTIFACT_VARIABLES = {
  maxGibOfAccount: variable<number>({
    name: 'ARTIFACTS_MAX_GIB',
    default: String(DEFAULT_ACCOUNT_GIB),
    whenUnset: DEFAULT_ACCOUNT_GIB,
    meaning:
      'Maximum size of the artifacts of an account, in GiB. Above it, new artifacts are refused; stored ones stay.',
    allowed: `a whole number from 1 to ${MAX_GIB}`,
    secret: false,
    parse: wholeNumber(1, MAX_GIB),
  }),
  maxGibOfLocation: variable<number>({
    name: 'ARTIFACTS_MAX_GIB_PER_LOCATION',
    default: String(DEFAULT_LOCATION_GIB),
    whenUnset: DEFAULT_LOCATION_GIB,
    meaning: 'The same for one private location.',
    allowed: `a whole number from 1 to ${MAX_GIB}`,
    secret: false,
    parse: wholeNumber(1, MAX_GIB),
  }),
  s3Bucket: variable<string | null>({
    name: 'S3_BUCKET',
    default: null,
    whenUnset: null,
    meaning:
      'The bucket in which artifacts are kept; unset, they are in the folder `artifacts` of DATA_DIR.',
    allowed: 'the name of a bucket that exists, of Amazon S3 or a store that speaks its protocol',
    secret: false,
    parse: matching(BUCKET),
  }),
  s3Prefix: variable<string>({
    name: 'S3_PREFIX',
    default: null,
    whenUnset: '',
    meaning: 'The prefix of all keys in the bucket, if other programs use it too.',
    allowed: 'names of letters, digits, _ and -, each with a slash after it, for example vedette/',
    secret: false,
    parse: matching(/^(?:[A-Za-z0-9_-]+\/)+$/),
  }),
  s3Region: variable<string>({
    name: 'S3_REGION',
    default: 'us-east-1',
    whenUnset: 'us-east-1',
    meaning: 'The region of the bucket.',
    allowed: 'the name of a region, for example eu-central-1',
    secret: false,
    parse: matching(REGION),
  }),
  s3Endpoint: variable<string | null>({
    name: 'S3_ENDPOINT',
    default: null,
    whenUnset: null,
    meaning: 'The address of a store other than Amazon S3.',
    allowed: 'an http or https URL without a path, for example http://minio:9000',
    secret: false,
    parse: webOrigin,
  }),
  s3AccessKeyId: variable<string | null>({
    name: 'S3_ACCESS_KEY_ID',
    default: null,
    whenUnset: null,
    meaning:
      'The access key of the store. Default: the credentials of the environment, the profile or the machine.',
    allowed: 'text without white space',
    secret: false,
    parse: matching(/^\S{1,1024}$/),
  }),
  s3SecretAccessKey: variable<string | null>({
    name: 'S3_SECRET_ACCESS_KEY',
    default: null,
    whenUnset: null,
    meaning: 'The secret of S3_ACCESS_KEY_ID.',
    allowed: 'text without white space',
    secret: true,
    parse: matching(/^\S{1,1024}$/),
  }),
  s3ForcePathStyle: variable<boolean>({
    name: 'S3_FORCE_PATH_STYLE',
    default: 'off',
    whenUnset: false,
    meaning: 'Names the bucket in the path instead of the host name, as most other stores need.',
    allowed: FLAG,
    secret: false,
    parse: flag,
  }),
  s3DirectUpload: variable<boolean>({
    name: 'S3_DIRECT_UPLOAD',
    default: 'off',
    whenUnset: false,
    meaning: 'Lets agents send their artifacts to the store itself, by signed URLs.',
    allowed: FLAG,
    secret: false,
    parse: flag,
  }),
  s3DirectEndpoint: variable<string | null>({
    name: 'S3_DIRECT_ENDPOINT',
    default: null,
    whenUnset: null,
    meaning: 'The address at which agents reach the store. Default: S3_ENDPOINT.',
    allowed: 'an http or https URL without a path, for example https://files.example.com',
    secret: false,
    parse: webOrigin,
  }),
} as const;

/**
 * @throws VedetteError of kind `config` and code CONFIG_INVALID: an invalid value, half of the
 *   credentials, or settings of a store without S3_BUCKET
 */
export function readArtifactsConfig(env: Environment): ArtifactsConfig {
  const rows = ARTIFACT_VARIABLES;
  const limits = {
    accountBytes: readVariable(env, rows.maxGibOfAccount) * GIB,
    locationBytes: readVariable(env, rows.maxGibOfLocation) * GIB,
  };
  return { s3: readS3Options(env), limits };
}

/** Null without a bucket. */
function readS3Options(env: Environment): S3Options | null {
  const { maxGibOfAccount: _, maxGibOfLocation: __, ...rows } = ARTIFACT_VARIABLES;
  const bucket = readVariable(env, rows.s3Bucket);
  const accessKeyId = readVariable(env, rows.s3AccessKeyId);
  const secretAccessKey = readVariable(env, rows.s3SecretAccessKey);
  const isDirect = readVariable(env, rows.s3DirectUpload);
  const options = {
    prefix: readVariable(env, rows.s3Prefix),
    region: readVariable(env, rows.s3Region),
    endpoint: readVariable(env, rows.s3Endpoint),
    pathStyle: readVariable(env, rows.s3ForcePathStyle),
    direct: isDirect
      ? { endpoint: readVariable(env, rows.s3DirectEndpoint), expiresMs: DIRECT_UPLOAD_MS }
      : null,
  };
  if (bucket === null) {
    const other = Object.values(rows).find(({ name }) => textOf(env, name) !== null);
    if (other === undefined) return null;
    throw invalid(
      `${other.name} is set and S3_BUCKET is not: set S3_BUCKET, or unset ${other.name}`,
    );
  }
  if (!isDirect && textOf(env, rows.s3DirectEndpoint.name) !== null) {
    throw invalid('S3_DIRECT_ENDPOINT has no effect unless S3_DIRECT_UPLOAD is on');
  }
  if (accessKeyId === null && secretAccessKey === null) {
    return { ...options, bucket, credentials: null };
  }
  if (accessKeyId === null || secretAccessKey === null) {
    const [there, missing] =
      accessKeyId === null
        ? ['S3_SECRET_ACCESS_KEY', 'S3_ACCESS_KEY_ID']
        : ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'];
    throw invalid(`${there} is set and ${missing} is not: set both or neither`);
  }
  return { ...options, bucket, credentials: { accessKeyId, secretAccessKey } };
}

/**
 * Opens the configured store: the bucket, else the folder `artifacts` of `dataDir`, else a temporary
 * folder, which closing the store removes.
 *
 * @throws VedetteError where the settings are invalid or the folder cannot be made
 */
export async function openArtifactStore(
  {
    s3,
    dataDir,
    proxies,
  }: Pick<ArtifactsConfig, 's3'> & {
    readonly dataDir: string | null;
    /** Proxies for requests to the bucket. Default: none. */
    readonly proxies?: Proxies;
  },
  deps: ArtifactStoreParts,
): Promise<ArtifactStore> {
  if (s3 !== null) {
    // The SDK is large: load it only where it is used.
    loadSequentially(import.meta.url, './s3/s3.js');
    const { createS3Store } = await import('./s3/s3.ts');
    return createS3Store(s3, deps, proxies);
  }
  if (dataDir !== null) return openLocalDisk({ folder: join(dataDir, 'artifacts') }, deps);
  return openTemporary(deps);
}

async function openTemporary(deps: ArtifactStoreParts): Promise<ArtifactStore> {
  const folder = await mkdtemp(join(tmpdir(), 'vedette-artifacts-')).catch((error: unknown) => {
    throw diskError(error, `make a folder in ${tmpdir()}`);
  });
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const store = await openLocalDisk({ folder }, deps);
    return {
      ...store,
      async close() {
        await store.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

function invalid(message: string): VedetteError {
  return new VedetteError('config', 'CONFIG_INVALID', message);
}

function matching(form: RegExp): (text: string) => Parsed<string> {
  return (text) => (form.test(text) ? { ok: true, value: text } : { ok: false, culprit: text });
}

function flag(text: string): Parsed<boolean> {
  const word = oneOf(['on', 'off', 'true', 'false'])(text);
  return word.ok ? { ok: true, value: word.value === 'on' || word.value === 'true' } : word;
}
