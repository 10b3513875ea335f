import { readFileSync } from 'node:fs';

// At the same relative path from src and from dist.
const PACKAGE = new URL('../../package.json', import.meta.url);

/** Vedette's own version (Semantic Versioning). */
export const VERSION: string = (
  JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly version: string }
).version;
