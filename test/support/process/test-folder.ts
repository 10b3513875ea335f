import { onTestFinished } from 'vitest';
import { makeTempFolder } from './temp-folder.ts';

/** The path of a new folder, which is deleted when the test ends, or when `atEnd` calls what it gets. */
export function makeTestFolder(atEnd: (end: () => Promise<void>) => void = onTestFinished): string {
  const folder = makeTempFolder();
  atEnd(async () => folder.remove());
  return folder.path;
}
