import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

const SERVICE = join(import.meta.dirname, '../../../../../src/service');
/** Files with SQL, as the architecture test has them. */
const SQL_FILE = /(?:^|\/)(?:sql|[\w-]+\.sql)\.ts$/;

/** The caller of a store method. */
export interface Asked {
  /** `file function`: the outermost in a file with SQL, else the calling feature. */
  readonly operation: string;
  /** All functions in files with SQL on the stack. */
  readonly through: readonly string[];
}

/**
 * The calling function in a file with SQL, or else of the service. Call it before the first await.
 * Functions with SQL are small: their names identify the statements.
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
  let driver: string | null = null;
  for (const site of sites) {
    const file = pathOf(site.getFileName());
    if (file === null || !file.startsWith(SERVICE + sep)) continue;
    const path = file.slice(SERVICE.length + 1);
    const operation = `${path} ${site.getFunctionName()?.split('.').at(-1) ?? 'a function'}`;
    if (SQL_FILE.test(path)) through.push(operation);
    else if (path.startsWith(`database${sep}`)) driver = operation;
    else feature ??= operation;
    if (feature !== null) break;
  }
  return { operation: through.at(-1) ?? feature ?? driver ?? 'somebody', through };
}

function pathOf(file: string | null | undefined): string | null {
  if (file === null || file === undefined) return null;
  return file.replace(/^file:\/\//, '').replace(/\?.*$/, '');
}

const FUNCTION = /^export (?:async )?function (\w+)(?:<[^>]*>)?\(\s*(?:sql|tx|store)\b/gm;

/** Every exported function in a file with SQL that takes the database: `file function`. */
export function allOperations(): readonly string[] {
  return readdirSync(SERVICE, { encoding: 'utf8', recursive: true })
    .filter((file) => SQL_FILE.test(file))
    .flatMap((file) => {
      const source = readFileSync(join(SERVICE, file), 'utf8');
      return [...source.matchAll(FUNCTION)].map(([, name]) => `${file} ${name}`);
    })
    .sort();
}
