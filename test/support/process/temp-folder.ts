import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder; `remove` deletes it with its contents. */
export function makeTempFolder(): { path: string; file(name: string): string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'vedette-test-'));
  return {
    path,
    file: (name) => join(path, name),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
