import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Part } from './part.ts';

/** What a part needs and this machine lacks, in words. */
export function missingPrograms({ programs, needsRoot = false }: Part): readonly string[] {
  const missing = programs.filter((name) => !isThere(name));
  return needsRoot && process.getuid?.() !== 0 ? [...missing, 'to be run as root'] : missing;
}

function isThere(program: string): boolean {
  // Debian's root has these, an ordinary user has not.
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
