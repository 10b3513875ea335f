// Builds the dashboard into dist/web/dashboard, with .br and .gz beside each file. Does nothing if no input
// has changed: tests build often. A service that starts during a build finds the old files or the new ones.
import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const ROOT = join(import.meta.dirname, '../../..');
const WEB = join(ROOT, 'src/web');
const TARGET = join(ROOT, 'dist/web/dashboard');
const STAMP = '.inputs';
/** Runs before the first paint, so it is not a module. Its name contains its hash like those of the other files. */
const THEME_SCRIPT = join(import.meta.dirname, 'shell/theme-before-paint.js');
const THEME_PLACE = '<!-- theme script -->';

/** The hash of all files that the result depends on; the lockfile covers packages. */
function inputHash() {
  const hash = createHash('sha256').update(process.version);
  const files = readdirSync(WEB, { recursive: true, encoding: 'utf8' })
    .map((path) => join(WEB, path))
    .filter((path) => statSync(path).isFile())
    .sort();
  for (const path of [...files, join(ROOT, 'package-lock.json'), join(ROOT, 'tsconfig.json')]) {
    hash.update(`${path.slice(ROOT.length)}\0`).update(readFileSync(path));
  }
  return hash.digest('hex');
}

function addThemeScript(folder) {
  const script = readFileSync(THEME_SCRIPT);
  const name = `theme-${createHash('sha256').update(script).digest('base64url').slice(0, 8)}.js`;
  writeFileSync(join(folder, 'assets', name), script);
  const index = join(folder, 'index.html');
  const html = readFileSync(index, 'utf8');
  if (!html.includes(THEME_PLACE)) throw new Error(`index.html has no ${THEME_PLACE}`);
  writeFileSync(index, html.replace(THEME_PLACE, `<script src="./assets/${name}"></script>`));
}

/** Compresses all files but index.html, into which the service inserts values. */
function compress(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const content = readFileSync(path);
    writeFileSync(`${path}.br`, brotliCompressSync(content));
    writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
  }
}

const stamp = inputHash();
const stampFile = join(TARGET, STAMP);
if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp) {
  const suffix = `${process.pid}-${randomBytes(4).toString('hex')}`;
  const made = `${TARGET}.new-${suffix}`;
  mkdirSync(join(ROOT, 'dist/web'), { recursive: true });
  try {
    const { build } = await import('vite');
    await build({
      configFile: join(import.meta.dirname, 'vite.config.ts'),
      logLevel: 'warn',
      build: { outDir: made, emptyOutDir: true },
    });
    addThemeScript(made);
    compress(join(made, 'assets'));
    writeFileSync(join(made, STAMP), stamp);
    const old = `${TARGET}.old-${suffix}`;
    if (existsSync(TARGET)) renameSync(TARGET, old);
    renameSync(made, TARGET);
    rmSync(old, { recursive: true, force: true });
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
