import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Part } from './part.ts';

/** Programs and rights that the part needs and this machine lacks, as text. */
export function missingPrograms({ programs, needsRoot = false }: Part): readonly string[] {
  const missing = programs.filter((name) => !isThere(name));
  return needsRoot && process.getuid?.() !== 0 ? [...missing, 'to be run as root'] : missing;
}

function isThere(program: string): boolean {
  // On Debian, the PATH of root has these folders, that of other users has not.
  const folders = `${process.env.PATH ?? ''}${delimiter}/usr/sbin${delimiter}/sbin`.split(
    delimiter,
  );
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
