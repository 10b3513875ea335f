import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { messageOf, systemCodeOf, VedetteError } from '../../runtime/errors.ts';
import { replaceFile } from '../../runtime/files/replace-file.ts';

const stateSchema = z.object({
  version: z.literal(1),
  /** The key of the only account: the service creates it with this key. */
  apiKey: z.string().regex(/^vk_[0-9a-f]{32}$/),
  /** The private location of this machine; null until there is one. */
  location: z
    .object({ id: z.string(), keyId: z.string(), key: z.string().regex(/^pl_[0-9a-f]{32}$/) })
    .nullable(),
  /** Ids of the checks that came from the file when it was last applied. */
  checks: z.array(z.string()),
  /** The other entries that came from the file, such as `statusPages/main`. Earlier releases did not save them. */
  resources: z.array(z.string()).default([]),
});

/** What `up` saves from one start to the next. */
export type UpState = Readonly<z.output<typeof stateSchema>>;

export interface OpenedState {
  readonly state: UpState;
  /** Whether this is the first start with this folder. */
  readonly isNew: boolean;
}

/**
 * The state saved in the file, or a new one, which it then saves.
 *
 * @throws VedetteError of kind `input` where the file is damaged, `environment` where it cannot be
 *   read or written
 */
export async function openState(file: string): Promise<OpenedState> {
  let text: string;
  try {
    // Only the owner may read the folder.
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw unusable(file, 'cannot be read', error);
    const apiKey = `vk_${randomBytes(16).toString('hex')}`;
    const state: UpState = { version: 1, apiKey, location: null, checks: [], resources: [] };
    await saveState(file, state);
    return { state, isNew: true };
  }
  const parsed = stateSchema.safeParse(parseJson(text));
  if (parsed.success) return { state: parsed.data, isNew: false };
  throw new VedetteError(
    'input',
    'STATE_DAMAGED',
    `${file} is damaged: restore a copy, or start with another --data folder (the file has the only copy of the API key)`,
  );
}

/** @throws VedetteError of kind `environment` where the file cannot be written */
export async function saveState(file: string, state: UpState): Promise<void> {
  try {
    await replaceFile(file, `${JSON.stringify(state, null, 2)}\n`, { durable: true });
  } catch (error) {
    throw unusable(file, 'cannot be written', error);
  }
}

function unusable(file: string, what: string, error: unknown): VedetteError {
  const why = systemCodeOf(error) ?? messageOf(error);
  const message = `${file} ${what} (${why}); choose another folder with --data`;
  return new VedetteError('environment', 'STATE_UNUSABLE', message);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
