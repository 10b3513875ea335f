import { readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { messageOf, systemCodeOf, VedetteError } from '../../runtime/errors.ts';
import { locationKey } from './parsers.ts';

/** The key of the private location, which may change while the agent runs. */
export interface KeySource {
  readonly current: string;
  /**
   * Reads the file again. `unusable`: it cannot be read or contains no key, and the last key stays
   * in use.
   */
  refresh(): Promise<KeyChange>;
}

export type KeyChange = 'same' | 'changed' | 'unusable';

/** A key file contains one line; a larger file is something else. */
const MAX_FILE_BYTES = 4096;

export function fixedKey(key: string): KeySource {
  return { current: key, refresh: async () => 'same' };
}

/**
 * The key in a file, such as a secret that an orchestrator mounts and replaces.
 *
 * @throws VedetteError of kind `config` and code CONFIG_INVALID, with one line that names the file
 */
export function keyFile(path: string): KeySource {
  const first = keyIn(readNow(path));
  if (first === null) throw invalid(path, 'contains no key of a private location');
  let key: string = first;
  return {
    get current() {
      return key;
    },
    async refresh() {
      const next = keyIn(await readFile(path, 'utf8').catch(() => ''));
      if (next === null) return 'unusable';
      if (next === key) return 'same';
      key = next;
      return 'changed';
    },
  };
}

function keyIn(text: string): string | null {
  const parsed = locationKey(text.trim());
  return parsed.ok ? parsed.value : null;
}

function readNow(path: string): string {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) throw invalid(path, 'is not a regular file');
    if (stats.size > MAX_FILE_BYTES) throw invalid(path, 'is too large for a key');
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof VedetteError) throw error;
    const code = systemCodeOf(error);
    if (code === 'ENOENT') throw invalid(path, 'does not exist');
    if (code === 'EACCES' || code === 'EPERM') throw invalid(path, 'may not be read by this user');
    throw invalid(path, `cannot be read (${code ?? messageOf(error)})`);
  }
}

function invalid(path: string, problem: string): VedetteError {
  return new VedetteError(
    'config',
    'CONFIG_INVALID',
    `API_KEY_FILE is ${JSON.stringify(path)}, which ${problem}; it must be the path of a file that contains pl_ and 32 hex digits`,
  );
}
