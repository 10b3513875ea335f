import { onTestFinished } from 'vitest';
import { makeTempFolder } from './temp-folder.ts';

/** The path of a new folder, which is deleted when the test ends. */
export function makeTestFolder(): string {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  return folder.path;
}
