// The files of a package that an image needs: files that Node can load, and licences to pass on.

/** Sources, types, source maps and manuals: Node never loads them. */
const NEVER_LOADED = /\.(?:[cm]?ts|map|md|markdown|c|cc|cpp|h|hh|hpp|inc|S|asm|def)$/;
/** Only in the folder of the package itself: deeper ones may be code, such as `lib/test`. */
const BESIDE_THE_CODE = /^(?:\..+|tests?|specs?|docs?|man|examples?|benchmarks?)$/;
/** koffi contains native code for both C libraries of Linux. The images have glibc. */
const OTHER_LIBC = /^musl_/;
const LICENCE = /^(?:licen[cs]e|copying|notice|copyright)/i;

/**
 * @param {string} path of a file or folder, relative to its package
 * @returns {boolean} false for a folder without needed files
 */
export function isNeeded(path) {
  const parts = path.split('/');
  if (BESIDE_THE_CODE.test(parts[0]) || OTHER_LIBC.test(parts[0])) return false;
  return isLicence(parts.at(-1)) || !NEVER_LOADED.test(path);
}

/** @param {string} name of a file, without folders */
export function isLicence(name) {
  return LICENCE.test(name);
}
