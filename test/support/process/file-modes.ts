import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The mode bits of a file or folder. */
export function modeOf(path: string): number {
  return lstatSync(path).mode & 0o7777;
}

/** Every file and folder at a path and below it. */
function everythingIn(path: string): readonly string[] {
  const below = lstatSync(path).isDirectory() ? readdirSync(path) : [];
  return [path, ...below.flatMap((name) => everythingIn(join(path, name)))];
}

/** Files that other users can access. */
export function openToOthers(path: string): readonly string[] {
  return everythingIn(path).filter(
    (each) => !lstatSync(each).isSymbolicLink() && (modeOf(each) & 0o077) !== 0,
  );
}

/** Makes everything accessible to all, like a careless copy. */
export function openToAll(path: string, modes = { folder: 0o755, file: 0o666 }): void {
  for (const each of everythingIn(path)) {
    const found = lstatSync(each);
    if (!found.isSymbolicLink()) chmodSync(each, found.isDirectory() ? modes.folder : modes.file);
  }
}
