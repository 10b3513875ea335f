import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

const SERVICE = join(import.meta.dirname, '../../../../src/service');
const STORE = join(SERVICE, 'store');

/** Who asked the store for something. */
export interface Asked {
  /** `file function` of src/service/store, the outermost; else the feature that asked. */
  readonly operation: string;
  /** All functions of src/service/store that it came through. */
  readonly through: readonly string[];
}

/**
 * Which function of the store's files, or else of the service's, is asking right now. To be called
 * before anything is awaited. The store's functions are small: their names name the statements.
 */
export function whoAsks(): Asked {
  const holder: { stack?: unknown } = {};
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  Error.prepareStackTrace = (_, sites) => sites;
  Error.captureStackTrace(holder, whoAsks);
  const sites = holder.stack as readonly NodeJS.CallSite[];
  Error.prepareStackTrace = prepareStackTrace;
  Error.stackTraceLimit = stackTraceLimit;
  const through: string[] = [];
  let feature: string | null = null;
  for (const site of sites) {
    const file = pathOf(site.getFileName());
    if (file === null || !file.startsWith(SERVICE)) continue;
    const name = site.getFunctionName()?.split('.').at(-1) ?? 'a function';
    if (file.startsWith(STORE + sep)) through.push(`${file.slice(STORE.length + 1)} ${name}`);
    else feature ??= `${file.slice(SERVICE.length + 1)} ${name}`;
    if (feature !== null) break;
  }
  return { operation: through.at(-1) ?? feature ?? 'somebody', through };
}

function pathOf(file: string | null | undefined): string | null {
  if (file === null || file === undefined) return null;
  return file.replace(/^file:\/\//, '').replace(/\?.*$/, '');
}

/** What runs statements and is no operation of a feature: the drivers, and what starts a service. */
const NOT_ASKED_BY_FEATURES = new Set([
  'data-folder.ts',
  'database-clock.ts',
  'migrate.ts',
  'migration-files.ts',
  'open-store.ts',
  'pglite.ts',
  'postgres-listener.ts',
  'postgres.ts',
  'transactions.ts',
]);

const FUNCTION = /^export (?:async )?function (\w+)(?:<[^>]*>)?\(\s*(?:sql|tx|store)\b/gm;

/** Every function of src/service/store that takes the database and is exported: `file function`. */
export function allOperations(): readonly string[] {
  return readdirSync(STORE)
    .filter((file) => file.endsWith('.ts') && !NOT_ASKED_BY_FEATURES.has(file))
    .flatMap((file) => {
      const source = readFileSync(join(STORE, file), 'utf8');
      return [...source.matchAll(FUNCTION)].map(([, name]) => `${file} ${name}`);
    })
    .sort();
}
