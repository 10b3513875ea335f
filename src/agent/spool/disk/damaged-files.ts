import { basename, join } from 'node:path';
import type { FileSystem } from '../../../runtime/files/file-system.ts';
import type { Logger } from '../../../runtime/logger.ts';

const ASIDE_NAME = /^damaged-.*\.seg$/;
/** Maximum number of damaged files to keep for inspection; the oldest names are deleted first. */
const MAX_ASIDE = 4;

/** The new path of a damaged file. */
export function asidePath(folder: string, path: string): string {
  return join(folder, `damaged-${basename(path)}`);
}

/** @param names those of all files of the folder, sorted */
export async function deleteOldAside(
  folder: string,
  names: readonly string[],
  { disk, log }: { readonly disk: FileSystem; readonly log: Logger },
): Promise<void> {
  const tooMany = names.filter((name) => ASIDE_NAME.test(name)).slice(0, -MAX_ASIDE);
  for (const name of tooMany) {
    log.warn({ file: join(folder, name) }, 'an old damaged file of the spool is deleted');
    await disk.unlink(join(folder, name)).catch(() => {});
  }
}
