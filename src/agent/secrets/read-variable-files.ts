import { constants } from 'node:fs';
import { type FileHandle, open, opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_VALUE_CHARS, variableKeySchema } from '../../model/check/variable.ts';
import { messageOf, systemCodeOf } from '../../runtime/errors.ts';
import { MAX_OPERATOR_VARIABLES } from '../config/operator-variables.ts';

/** Maximum number of entries to list: a folder with more is not one of variables. */
const MAX_ENTRIES = 5_000;
/** A UTF-16 unit takes at most three bytes in UTF-8; plus a line break. */
const MAX_FILE_BYTES = 3 * MAX_VALUE_CHARS + 2;
const MAX_SHOWN = 5;
const MAX_SHOWN_CHARS = 60;

export interface Listing {
  /** File names that are valid variable names, sorted. */
  readonly names: readonly string[];
  /** Lines for the log about skipped files. */
  readonly notes: readonly string[];
}

/**
 * The files of a folder whose names are valid variable names. Skips folders and hidden files, which
 * contain the versions of mounted secrets.
 *
 * @throws the system's error
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
    notes.push(`files whose names are not valid variable names are skipped: ${shown}${more}`);
  }
  if (entries > MAX_ENTRIES) {
    notes.push(`it contains more than ${MAX_ENTRIES} entries: the others are skipped`);
  }
  names.sort(byText);
  if (names.length > MAX_OPERATOR_VARIABLES) {
    const last = shortened(names[MAX_OPERATOR_VARIABLES - 1] ?? '');
    notes.push(
      `it contains more than ${MAX_OPERATOR_VARIABLES} values: those after ${last} are skipped`,
    );
  }
  return { names: names.slice(0, MAX_OPERATOR_VARIABLES), notes };
}

/** A value; null for a folder. `problem` continues a sentence that starts with the file name. */
export type ReadValue =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly problem: string; readonly isOfSystem: boolean }
  | null;

/** Reads a value. Removes one line break at its end, which editors and `echo` add. */
export async function readValue(folder: string, name: string): Promise<ReadValue> {
  const refused = (problem: string): ReadValue => ({ ok: false, problem, isOfSystem: false });
  const tooLong = `is longer than ${MAX_VALUE_CHARS} characters`;
  const path = join(folder, name);
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) return null;
    if (!stats.isFile()) return refused('is not a regular file');
    // O_NONBLOCK: opening does not wait if a pipe has replaced the file.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const bytes = await readUpTo(handle, MAX_FILE_BYTES + 1).finally(() => handle.close());
    if (bytes.length > MAX_FILE_BYTES) return refused(tooLong);
    const text = decoded(bytes);
    if (text === null) return refused('is not UTF-8 text');
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
