import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { systemCodeOf, VedetteError } from '../runtime/errors.ts';
import { HANDBOOK_DOCUMENTS } from './topics.ts';

/** The package has the same relative path from src and from dist. */
const PACKAGE = new URL('../../', import.meta.url);

/**
 * The documents of the handbook, by their paths in the package.
 *
 * @param folder the package, as a URL with a slash at its end
 * @throws VedetteError where one is missing or cannot be read
 */
export async function readDocuments(folder: URL = PACKAGE): Promise<ReadonlyMap<string, string>> {
  const texts = HANDBOOK_DOCUMENTS.map(async (path) => {
    const file = fileURLToPath(new URL(path, folder));
    try {
      return [path, await readFile(file, 'utf8')] as const;
    } catch (error) {
      const reason = systemCodeOf(error) ?? 'unreadable';
      throw new VedetteError(
        'environment',
        'HANDBOOK_UNREADABLE',
        `the handbook needs ${file}, which cannot be read (${reason}): install Vedette again, or put the file there`,
        { cause: error },
      );
    }
  });
  return new Map(await Promise.all(texts));
}
