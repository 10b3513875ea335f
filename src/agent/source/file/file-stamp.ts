import { stat } from 'node:fs/promises';
import { systemCodeOf } from '../../../runtime/errors.ts';

/**
 * A text that changes whenever one of the files is written, replaced, removed, or its permissions
 * change. Follows links, so a new target of a link also counts as a change.
 */
export async function fileStamp(files: readonly string[]): Promise<string> {
  const stamps = files.map(async (file) => {
    try {
      const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
      return [file, dev, ino, size, mtimeNs, ctimeNs].join(' ');
    } catch (thrown) {
      return `${file} ${systemCodeOf(thrown) ?? 'unknown'}`;
    }
  });
  return (await Promise.all(stamps)).join('\n');
}

/** null if the file cannot be examined. */
export async function fileKindOf(file: string): Promise<'file' | 'folder' | 'other' | null> {
  try {
    const stats = await stat(file);
    if (stats.isFile()) return 'file';
    return stats.isDirectory() ? 'folder' : 'other';
  } catch {
    return null;
  }
}
