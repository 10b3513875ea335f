import { createRequire } from 'node:module';

/**
 * Loads a module of Vedette with all its imports, one file after the other, before an `import()` of it.
 * `import()` alone opens all files of one level of imports at once, some 100 for the languages of zod:
 * too many for a process with few file descriptors.
 *
 * @param importer the caller's `import.meta.url`
 * @param path relative to it, of the compiled file
 */
export function loadSequentially(
  importer: string,
  path: `./${string}.js` | `../${string}.js`,
): void {
  // Tests run the sources, with a loader of their own.
  if (!importer.endsWith('.js') || !hasRequireOfModules()) return;
  createRequire(importer)(path);
}

/** It can be switched off (`--no-experimental-require-module`). */
function hasRequireOfModules(): boolean {
  return 'require_module' in process.features && process.features.require_module === true;
}
