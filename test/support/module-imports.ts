import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

export interface Import {
  /** Path below src, like `agent/run/run-check.ts`. */
  readonly from: string;
  /** The same for our own modules; the written specifier for all others. */
  readonly to: string;
  readonly own: boolean;
}

const SRC = join(import.meta.dirname, '../../src');
const SPECIFIER =
  /(?:\bfrom\s+|\bimport\s*\(\s*|^import\s+|new URL\(\s*(?='[^']+\.js'))'([^']+)'/gm;

export function sourceFiles(): { readonly path: string; readonly text: string }[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(SRC, path), 'utf8') }));
}

/** Every import of every module in src, static and dynamic. */
export function importsOf(files = sourceFiles()): Import[] {
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(SPECIFIER)].map(([, specifier = '']) => {
      const own = specifier.startsWith('.');
      const target = own ? normalize(join(dirname(join(SRC, path)), specifier)) : specifier;
      return { from: path, to: own ? relative(SRC, target) : target, own };
    }),
  );
}

/** One import cycle, as the path that closes it; null if there is none. */
export function findCycle(imports: readonly Import[]): readonly string[] | null {
  const edges = new Map<string, string[]>();
  for (const { from, to, own } of imports) {
    if (own) edges.set(from, [...(edges.get(from) ?? []), to]);
  }
  const done = new Set<string>();
  const visit = (module: string, path: readonly string[]): readonly string[] | null => {
    if (path.includes(module)) return [...path.slice(path.indexOf(module)), module];
    if (done.has(module)) return null;
    for (const next of edges.get(module) ?? []) {
      const cycle = visit(next, [...path, module]);
      if (cycle !== null) return cycle;
    }
    done.add(module);
    return null;
  };
  for (const module of edges.keys()) {
    const cycle = visit(module, []);
    if (cycle !== null) return cycle;
  }
  return null;
}
