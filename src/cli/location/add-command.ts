import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { VedetteError } from '../../runtime/errors.ts';
import { knownLocations } from '../apply/locations.ts';
import { KeyFile, keyFileError } from '../key-file.ts';
import type { OutputFormat } from '../print/output-format.ts';
import { allPages } from '../service-api/all-pages.ts';
import { type ApiClient, type ApiRefusal, isInterrupted } from '../service-api/api-client.ts';
import { readAs } from '../service-api/read-responses.ts';
import { requestService } from '../service-api/request-service.ts';
import { EXIT, type Terminal } from '../terminal.ts';

export interface AddLocationOptions {
  /** null for the slug. */
  readonly name: string | null;
  /** Creates only what is missing: the location, or its key if it has no active one. */
  readonly ifMissing: boolean;
  /** A new file for the key, in place of the output; null for none. */
  readonly keyFile: string | null;
  readonly output: OutputFormat;
}

interface FoundLocation {
  readonly id: string;
  readonly isCreated: boolean;
  /** Whether it has an active key, which nobody can read any more. */
  readonly hasKey: boolean;
}

interface AddedLocation {
  readonly id: string;
  readonly isCreated: boolean;
  /** null if none was created. */
  readonly key: string | null;
}

interface AddContext {
  readonly client: Pick<ApiClient, 'get' | 'send'>;
  readonly signal: AbortSignal;
  readonly slug: string;
  readonly options: AddLocationOptions;
  readonly stderr: Terminal['stderr'];
}

const LOCATIONS = '/v1/private-locations';
const KEY_ROLE = { role: 'admin', roleReason: 'which keys of locations need' } as const;

const createdSchema = z.looseObject({ id: z.string() });
const createdKeySchema = z.looseObject({ id: z.string(), key: z.string() });
const keysSchema = z.array(z.looseObject({ revokedAt: z.string().nullable() }));

/**
 * Creates a private location with a key for its agents, and prints its id and the key, or writes the key
 * to a file.
 *
 * @returns EXIT.ok, or what interrupted it
 * @throws VedetteError where a variable, the key, the slug, the file or the service is unusable
 */
export function addLocationCommand(
  slug: string,
  options: AddLocationOptions,
  terminal: Terminal,
  exitNow: (exitCode: number) => void,
): Promise<number> {
  return requestService(
    terminal,
    exitNow,
    async ({ client, signal }) => {
      const { stderr } = terminal;
      print(await addLocation({ client, signal, slug, options, stderr }), slug, options, terminal);
      return EXIT.ok;
    },
    { use: 'location' },
  );
}

async function addLocation(context: AddContext): Promise<AddedLocation> {
  const { ifMissing, keyFile } = context.options;
  const found = ifMissing ? await findLocation(context) : null;
  if (found?.hasKey === true) return { id: found.id, isCreated: false, key: null };
  const file = keyFile === null ? null : await createFile(keyFile);
  let location = found;
  let created: z.output<typeof createdKeySchema> | null;
  try {
    location ??= await createLocation(context);
    created = location.hasKey ? null : await createKey(location.id, context);
  } catch (thrown) {
    await file?.discard();
    throw location?.isCreated === true ? withoutKey(thrown, context) : thrown;
  }
  const { id, isCreated } = location;
  if (created === null) {
    await file?.discard();
    return { id, isCreated, key: null };
  }
  const { id: keyId, key } = created;
  if (file !== null && keyFile !== null) {
    await file.save(key).catch(async (thrown: unknown) => {
      throw keyFileError(keyFile, thrown, await revoked(id, keyId, context));
    });
  }
  return { id, isCreated, key };
}

/** Before anything is created, so that the key has somewhere to go. */
function createFile(path: string): Promise<KeyFile> {
  return KeyFile.create(path).catch((thrown: unknown) => {
    throw keyFileError(path, thrown, 'nothing was created');
  });
}

async function findLocation({ client, signal, slug }: AddContext): Promise<FoundLocation | null> {
  const found = (await knownLocations(client, signal)).find((each) => each.slug === slug);
  if (found === undefined) return null;
  const read = (json: unknown) => readAs(keysSchema, json, 'list of keys');
  const keys = await allPages(client, keysPath(found.id), read, signal);
  const hasKey = keys.some(({ revokedAt }) => revokedAt === null);
  return { id: found.id, isCreated: false, hasKey };
}

/** With `ifMissing`, the location that another command has just created instead. */
async function createLocation(context: AddContext): Promise<FoundLocation> {
  const { client, signal, slug, options } = context;
  const body = { slug, name: options.name ?? slug };
  const reply = await client.send('POST', LOCATIONS, {
    body,
    signal,
    idempotencyKey: randomUUID(),
  });
  if (reply.ok) {
    const { id } = readAs(createdSchema, reply.json, 'private location');
    return { id, isCreated: true, hasKey: false };
  }
  const isTaken = reply.status === 409;
  const other = isTaken && options.ifMissing ? await findLocation(context) : null;
  if (other !== null) return other;
  const hint = isTaken && !options.ifMissing ? '; with --if-missing that is no error' : '';
  throw refused(`the private location ${JSON.stringify(slug)}`, reply, hint);
}

/** null if, with `ifMissing`, other commands have just created keys. */
async function createKey(
  locationId: string,
  context: AddContext,
): Promise<z.output<typeof createdKeySchema> | null> {
  const { client, signal, slug, options } = context;
  const reply = await client.send('POST', keysPath(locationId), {
    ...KEY_ROLE,
    signal,
    idempotencyKey: randomUUID(),
  });
  if (reply.ok) return readAs(createdKeySchema, reply.json, 'key');
  if (options.ifMissing && reply.status === 409) {
    if ((await findLocation(context))?.hasKey === true) return null;
  }
  throw refused(`a key of the private location ${JSON.stringify(slug)}`, reply);
}

/** Revokes a key that could not be saved, and returns what the person has to know. */
async function revoked(locationId: string, keyId: string, context: AddContext): Promise<string> {
  const { client, signal, slug } = context;
  const path = `${keysPath(locationId)}/${encodeURIComponent(keyId)}`;
  const isRevoked = await client.send('DELETE', path, { ...KEY_ROLE, signal }).then(
    ({ ok }) => ok,
    () => false,
  );
  const state = `the private location ${JSON.stringify(slug)} exists`;
  const again = 'run the command again with --if-missing and another file';
  return isRevoked
    ? `${state}, and the key was revoked: ${again}`
    : `${state}, and its key is lost: revoke it (DELETE ${path}), and ${again}`;
}

/** The error that was thrown after the location was created. */
function withoutKey(thrown: unknown, { slug, stderr }: AddContext): unknown {
  const state = `the private location ${JSON.stringify(slug)} was created, but no key of it was received: run the command again with --if-missing`;
  if (isInterrupted(thrown)) {
    stderr.write(`vedette: ${state}\n`);
    return thrown;
  }
  if (!(thrown instanceof VedetteError)) return thrown;
  const { kind, code, message } = thrown;
  return new VedetteError(kind, code, `${message}; ${state}`, { cause: thrown });
}

function print(
  { id, isCreated, key }: AddedLocation,
  slug: string,
  { keyFile, output }: AddLocationOptions,
  { stdout, stderr }: Terminal,
): void {
  if (output === 'json') {
    const keyOrFile = key === null ? {} : keyFile === null ? { key } : { keyFile };
    stdout.write(`${JSON.stringify({ id, slug, created: isCreated, ...keyOrFile })}\n`);
  } else if (key === null) {
    stdout.write(`location  ${id}  (exists already, with a key; nothing was changed)\n`);
  } else {
    const note = isCreated ? '' : '  (exists already)';
    const shownKeyOrFile = keyFile === null ? key : `in ${keyFile}`;
    stdout.write(
      `location  ${id}${note}\nkey       ${shownKeyOrFile}  (for agents; it is shown only once)\n`,
    );
  }
  if (key === null && keyFile !== null) {
    stderr.write(
      `vedette: --key-file ${keyFile} was not written: the private location has a key, and the service stores only hashes of keys; for another key: POST ${keysPath(id)}\n`,
    );
  }
}

function keysPath(locationId: string): string {
  return `${LOCATIONS}/${encodeURIComponent(locationId)}/keys`;
}

function refused(what: string, { reasons }: ApiRefusal, hint = ''): VedetteError {
  const message = `the service refuses ${what}: ${reasons.join('; ')}${hint}`;
  return new VedetteError('usage', 'REFUSED', message);
}
