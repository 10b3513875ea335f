import { createRequire } from 'node:module';

/**
 * Loads a module of ours, and all that it imports, one file after the other, so that an `import()`
 * after it finds all of them loaded. `import()` alone opens the files of a whole level of imports at
 * once, some 100 for the languages of zod, which is more than a process with few descriptors has.
 *
 * @param importer its `import.meta.url`
 * @param path from there, as it is compiled
 */
export function loadOneByOne(importer: string, path: `./${string}.js` | `../${string}.js`): void {
  // Sources are run by tests, which load them in their own way.
  if (!importer.endsWith('.js') || !hasRequireOfModules()) return;
  createRequire(importer)(path);
}

/** It can be switched off (`--no-experimental-require-module`). */
function hasRequireOfModules(): boolean {
  return 'require_module' in process.features && process.features.require_module === true;
}
