import { constants } from 'node:fs';
import { type FileHandle, open, opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_VALUE_CHARS, variableKeySchema } from '../../model/check/variable.ts';
import { messageOf, systemCodeOf } from '../../runtime/errors.ts';
import { MAX_OPERATOR_VARIABLES } from '../config/operator-variables.ts';

/** A folder with more is not one of variables, and is not listed to its end. */
const MAX_ENTRIES = 5_000;
/** UTF-8 takes three bytes at most for what counts as one character, and a line break follows. */
const MAX_FILE_BYTES = 3 * MAX_VALUE_CHARS + 2;
const MAX_SHOWN = 5;
const MAX_SHOWN_CHARS = 60;

export interface Listing {
  /** Of files that may be values, in order. */
  readonly names: readonly string[];
  /** What is left out, in sentences. */
  readonly notes: readonly string[];
}

/**
 * The files of a folder that are named like variables. Leaves out folders and hidden files, where
 * mounted secrets have their versions. Throws the system's error.
 */
export async function listFolder(folder: string): Promise<Listing> {
  const names: string[] = [];
  const strange: string[] = [];
  let entries = 0;
  for await (const entry of await opendir(folder)) {
    entries += 1;
    if (entries > MAX_ENTRIES) break;
    if (entry.name.startsWith('.') || entry.isDirectory()) continue;
    const isName = variableKeySchema.safeParse(entry.name).success;
    (isName ? names : strange).push(entry.name);
  }
  const notes: string[] = [];
  if (strange.length > 0) {
    const shown = strange.sort(byText).slice(0, MAX_SHOWN).map(shortened).join(', ');
    const more = strange.length > MAX_SHOWN ? ` and ${strange.length - MAX_SHOWN} more` : '';
    notes.push(`files whose names are no names of variables are left out: ${shown}${more}`);
  }
  if (entries > MAX_ENTRIES) {
    notes.push(`it holds more than ${MAX_ENTRIES} entries, of which the others are left out`);
  }
  names.sort(byText);
  if (names.length > MAX_OPERATOR_VARIABLES) {
    const last = shortened(names[MAX_OPERATOR_VARIABLES - 1] ?? '');
    notes.push(
      `it holds more than ${MAX_OPERATOR_VARIABLES} values, of which those after ${last} are left out`,
    );
  }
  return { names: names.slice(0, MAX_OPERATOR_VARIABLES), notes };
}

/** One value; null for a folder, which is none. `problem` follows the name of the file. */
export type ReadValue =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly problem: string; readonly isOfSystem: boolean }
  | null;

/** Without the line break at its end, which editors and `echo` put there. */
export async function readValue(folder: string, name: string): Promise<ReadValue> {
  const refused = (problem: string): ReadValue => ({ ok: false, problem, isOfSystem: false });
  const tooLong = `is longer than ${MAX_VALUE_CHARS} characters`;
  const path = join(folder, name);
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) return null;
    if (!stats.isFile()) return refused('is no regular file');
    // If a pipe replaced the file meanwhile, opening it does not wait.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const bytes = await readUpTo(handle, MAX_FILE_BYTES + 1).finally(() => handle.close());
    if (bytes.length > MAX_FILE_BYTES) return refused(tooLong);
    const text = decoded(bytes);
    if (text === null) return refused('is no text in UTF-8');
    const value = text.replace(/\r?\n$/, '');
    return value.length > MAX_VALUE_CHARS ? refused(tooLong) : { ok: true, value };
  } catch (error) {
    const problem = `cannot be read (${systemCodeOf(error) ?? messageOf(error)})`;
    return { ok: false, problem, isOfSystem: true };
  }
}

async function readUpTo(handle: FileHandle, maxBytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(maxBytes);
  let length = 0;
  while (length < maxBytes) {
    const { bytesRead } = await handle.read(buffer, length, maxBytes - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function decoded(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function shortened(name: string): string {
  return JSON.stringify(
    name.length > MAX_SHOWN_CHARS ? `${name.slice(0, MAX_SHOWN_CHARS)}…` : name,
  );
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}
