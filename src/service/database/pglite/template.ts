import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { systemCodeOf } from '../../../runtime/errors.ts';

/** In dist only: the build makes it (make-template.mjs). */
const FOLDER = fileURLToPath(new URL('./template/', import.meta.url));
const ARCHIVE = 'database.tar.gz';

/**
 * The files of an embedded database with the schema of this release and nothing else, as an archive for
 * PGlite. To create and migrate a database takes seconds, to copy one tenths of a second.
 *
 * @returns null in the sources, which have no archive
 */
export async function readTemplate(): Promise<Blob | null> {
  try {
    return new Blob([await readFile(`${FOLDER}${ARCHIVE}`)], { type: 'application/gzip' });
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
