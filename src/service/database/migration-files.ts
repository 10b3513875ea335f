import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { VedetteError } from '../../runtime/errors.ts';

export interface Migration {
  readonly number: number;
  /** The file's name. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 in hex; line ends do not count. */
  readonly checksum: string;
}

/** Beside this module, in src and in dist alike: the build copies the files. */
export const MIGRATIONS_FOLDER = fileURLToPath(new URL('./migrations/', import.meta.url));

const NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

/**
 * The migrations of a folder, in their order.
 * @throws VedetteError `internal` where a name is not of the form 0001_what_it_does.sql, or the
 *   numbers are not 1, 2, 3 …
 */
export async function readMigrations(folder: string): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).toSorted();
  return Promise.all(
    names.map(async (name, index) => {
      const number = Number(NAME.exec(name)?.[1]);
      if (number !== index + 1) {
        throw new VedetteError(
          'internal',
          'MIGRATION_NUMBER',
          `${name} in ${folder} should be a migration with the number ${index + 1}: this installation is incomplete or mixed from two releases, install it again`,
        );
      }
      const sql = (await readFile(`${folder}/${name}`, 'utf8')).replaceAll('\r\n', '\n');
      return { number, name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}
