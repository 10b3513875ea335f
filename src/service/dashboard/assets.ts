import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Coding } from '../http/content-coding.ts';

/** The output of `npm run build` for src/web/dashboard. The path is also valid from src, where tests run. */
const FOLDER = new URL('../../../dist/web/dashboard/', import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/** A file that never changes under its name. */
export interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly packed: Readonly<Record<Coding, Buffer>>;
}

export interface Dashboard {
  /** The page, which loads the assets. */
  readonly html: string;
  readonly assets: ReadonlyMap<string, Asset>;
  /** Changes with the content. */
  readonly tag: string;
}

/**
 * The built dashboard, held in memory: a build that replaces it does not mix old files with new ones.
 *
 * @returns null if it is not built
 */
export async function readDashboard(folder = fileURLToPath(FOLDER)): Promise<Dashboard | null> {
  const html = await readFile(join(folder, 'index.html'), 'utf8').catch(nullIfMissing);
  if (html === null) return null;
  const inAssets = join(folder, 'assets');
  const names = (await readdir(inAssets)).filter((name) => TYPES[extname(name)] !== undefined);
  const assets = new Map<string, Asset>();
  for (const name of names) {
    const [plain, br, gzip] = await Promise.all(
      ['', '.br', '.gz'].map((ending) => readFile(join(inAssets, `${name}${ending}`))),
    );
    if (plain === undefined || br === undefined || gzip === undefined) continue;
    assets.set(name, { type: TYPES[extname(name)] ?? '', plain, packed: { br, gzip } });
  }
  const tag = createHash('sha256').update(html).digest('base64url').slice(0, 22);
  return { html, assets, tag };
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
