import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMigrations } from '../../../src/service/database/migrate.ts';
import { findCycle, type Import, importsOf, sourceFiles } from '../../support/module-imports.ts';

/** Which top folders of src a top folder may import from, beside itself. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  model: [],
  scrub: ['model'],
  runtime: [],
  handbook: ['runtime'],
  web: ['model', 'runtime'],
  wire: ['model', 'runtime'],
  agent: ['wire', 'scrub', 'model', 'runtime'],
  service: ['wire', 'scrub', 'model', 'handbook', 'web', 'runtime'],
  cli: ['agent', 'service', 'wire', 'model', 'handbook', 'runtime'],
};

/** Commands that the agent's image leaves out (docker/assemble-image.mjs), and the help of all. */
const OPERATORS_CLI = [
  'cli/up/',
  'cli/account/',
  'cli/commands/service-command.ts',
  'cli/commands/operator-command.ts',
  'cli/command-variables.ts',
];

/** The folders that all features use, with the folders of the service that each may import. */
const FOUNDATIONS: Readonly<Record<string, readonly string[]>> = {
  'service/outgoing': [],
  'service/outbox': ['service/outgoing', 'service/database'],
};

/** An agent restarts it after each expression that does not end. Loading zod would take longest. */
const EVALUATION_WORKER = 'agent/assertions/evaluation-worker.ts';

/** Folders that compute and touch nothing: the only outside modules they may use. */
const PURE: Readonly<Record<string, readonly string[]>> = {
  'model/': ['zod', 'node:crypto', 'node:net', 'json-p3', '@cfworker/json-schema'],
  'scrub/': [],
  'agent/assertions/': [
    'json-p3',
    '@cfworker/json-schema',
    'node:vm',
    'node:worker_threads',
    'node:url',
  ],
};

const ROOT = join(import.meta.dirname, '../../..');
const imports = importsOf();
const top = (path: string): string => path.split('/')[0] ?? '';

function offences(rule: (one: Import) => boolean): string[] {
  return imports.filter(rule).map(({ from, to }) => `${from} imports ${to}`);
}

const isSql = (path: string): boolean => /(?:^|\/)(?:sql|[\w-]+\.sql)\.ts$/.test(path);
/** `service/heartbeats` of `service/heartbeats/sql.ts`. */
const featureOf = (path: string): string => path.split('/').slice(0, 2).join('/');
const isRoutes = (path: string): boolean => /routes\.tsx?$/.test(path);

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}

describe('the import rules', () => {
  it('sees the imports it judges', () => {
    expect(imports.length).toBeGreaterThan(50);
    expect(imports).toContainEqual({
      from: 'model/check/check.ts',
      to: 'model/schedule/frequency.ts',
      own: true,
    });
  });

  it('go one way: cli, then agent or service, then wire and scrub, then model', () => {
    const wrong = offences(({ from, to, own }) => {
      const allowed = LAYERS[top(from)];
      if (allowed === undefined) return true;
      return own && top(from) !== top(to) && !allowed.includes(top(to));
    });
    expect(wrong).toEqual([]);
  });

  it("keep the service out of the commands of the agent's image", () => {
    const wrong = offences(
      ({ from, to, own }) =>
        from.startsWith('cli/') &&
        own &&
        top(to) === 'service' &&
        !OPERATORS_CLI.some((path) => from.startsWith(path)),
    );
    expect(wrong).toEqual([]);
  });

  it('keep the modules that send for all features free of imports of features', () => {
    const wrong = offences(({ from, to, own }) => {
      const allowed = FOUNDATIONS[featureOf(from)];
      if (allowed === undefined || !own || top(to) !== 'service') return false;
      return featureOf(to) !== featureOf(from) && !allowed.includes(featureOf(to));
    });
    expect(wrong).toEqual([]);
  });

  it('let the dashboard use itself, src/web and the types of src/model', () => {
    const files = sourceFiles().filter(({ path }) => path.startsWith('web/dashboard/'));
    const typed = new Set(
      files.flatMap(({ path, text }) =>
        [...text.matchAll(/^import type [^;]*?'([^']+)';/gm)].map(([, to]) => `${path} ${to}`),
      ),
    );
    expect(files.length).toBeGreaterThan(20);
    const isType = (from: string, to: string): boolean =>
      [...typed].some(
        (one) => one.startsWith(`${from} `) && one.endsWith(to.replace(/^model/, '')),
      );
    const wrong = offences(
      ({ from, to, own }) =>
        from.startsWith('web/dashboard/') &&
        own &&
        !to.startsWith('web/') &&
        !(to.startsWith('model/') && isType(from, to)),
    );
    expect(wrong).toEqual([]);
    // No other module may import it: it is built by itself.
    expect(
      offences(
        ({ from, to }) => !from.startsWith('web/dashboard/') && to.startsWith('web/dashboard/'),
      ),
    ).toEqual([]);
  });

  it('keep model, scrub and assertions pure', () => {
    const wrong = offences(({ from, to, own }) =>
      Object.entries(PURE).some(
        ([folder, allowed]) => from.startsWith(folder) && !own && !allowed.includes(to),
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('keep the drivers of databases in service/database, and routes off it and off SQL', () => {
    const drivers = ['pg', '@electric-sql/pglite'];
    const wrong = offences(
      ({ from, to }) =>
        (drivers.includes(to) && !from.startsWith('service/database/')) ||
        (isRoutes(from) && (isSql(to) || to.startsWith('service/database/'))),
    );
    expect(wrong).toEqual([]);
  });

  it("keep a feature's SQL private, except what its shared.sql.ts exports", () => {
    const wrong = offences(
      ({ from, to }) =>
        isSql(to) && !to.endsWith('/shared.sql.ts') && featureOf(from) !== featureOf(to),
    );
    expect(wrong).toEqual([]);
  });

  it('keep the worker of expressions quick to start', () => {
    const values = importsOf(
      sourceFiles().map(({ path, text }) => {
        return { path, text: text.replaceAll(/^(?:import|export) type [\s\S]*?;$/gm, '') };
      }),
    );
    const loaded = new Set([EVALUATION_WORKER]);
    for (const module of loaded) {
      for (const { from, to } of values) if (from === module) loaded.add(to);
    }
    const packages = [...loaded].filter((one) => !/\.ts$|^node:/.test(one));
    expect(new Set(packages)).toEqual(new Set(['@cfworker/json-schema', 'json-p3']));
  });

  it('have no cycles', () => {
    expect(findCycle(imports)).toBeNull();
  });

  it('find a cycle where there is one', () => {
    const edge = (from: string, to: string): Import => ({ from, to, own: true });
    expect(findCycle([edge('a', 'b'), edge('b', 'c'), edge('c', 'b')])).toEqual(['b', 'c', 'b']);
  });
});

it('programs of tests and of docker import built modules whose sources are there', () => {
  // The compiler does not follow them: they are plain modules, which run what was built.
  const built = ['test', 'docker'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.mjs'))
      .flatMap((name) => {
        const text = readFileSync(join(ROOT, folder, name), 'utf8');
        return [...text.matchAll(/from '(?:\.\.\/)+dist\/([^']+)\.js'/g)].map(([, path = '']) => ({
          by: `${folder}/${name}`,
          path,
        }));
      }),
  );
  const isMissing = ({ path }: { path: string }): boolean =>
    !['.ts', '.tsx'].some((suffix) => existsSync(join(ROOT, 'src', `${path}${suffix}`)));
  expect(built.length).toBeGreaterThan(5);
  expect(built.filter(isMissing)).toEqual([]);
});

it('no folder of src or test holds more than 20 modules', () => {
  const counts = new Map<string, number>();
  for (const top of ['src', 'test']) {
    for (const path of readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })) {
      const folder = join(top, dirname(path));
      if (/\.(?:tsx?|mjs)$/.test(path)) counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
  }
  expect(counts.size).toBeGreaterThan(50);
  expect([...counts].filter(([, count]) => count > 20)).toEqual([]);
});

it('SQL is run only by files named for it, and by service/database', () => {
  const wrong = sourceFiles()
    .filter(({ path }) => !isSql(path) && !path.startsWith('service/database/'))
    .filter(({ text }) => /\.(?:query|script)\(/.test(withoutComments(text)))
    .map(({ path }) => path);
  expect(wrong).toEqual([]);
});

it('modules that are loaded when they are needed are loaded one by one', () => {
  const wrong = sourceFiles().flatMap(({ path, text }) => {
    // Vite makes the chunks of the dashboard.
    if (path.startsWith('web/dashboard/')) return [];
    const code = withoutComments(text);
    return [...code.matchAll(/\bimport\('(\.[^']+)\.ts'\)/g)]
      .filter(([, to]) => path !== 'cli/main.ts' || to === './program')
      .filter(([, to]) => !code.includes(`loadSequentially(import.meta.url, '${to}.js');`))
      .map(([, to]) => `${path} loads ${to}`);
  });
  expect(wrong).toEqual([]);
});

/** Folders of tests whose subject is not a folder of src. */
const WITHOUT_SUBJECT: Readonly<Record<string, string>> = {
  'unit/docker': 'of the folder docker',
  'unit/repository': 'of the repository: its imports, documents, lock file and reports of CI',
  'unit/support': 'of test/support and test/break, by which other tests judge',
  'integration/docker': 'of the folder docker',
  'integration/service/contract': 'of all resources against the field tables of the API',
};

describe('migrations', () => {
  it('have the numbers 1, 2, 3, … in the order of their names', async () => {
    const folder = join(ROOT, 'src/service/database/migrations');
    expect(await readMigrations(folder)).not.toEqual([]);
  });
});

describe('tests mirror src', () => {
  const tests = ['unit', 'integration'].flatMap((kind) =>
    readdirSync(join(ROOT, 'test', kind), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.test\.tsx?$/.test(path))
      .map((path) => ({ path: join(kind, path), folder: dirname(path) })),
  );
  const modules = sourceFiles().map(({ path }) => path);

  it('by folder', () => {
    const folders = new Set(modules.flatMap((path) => foldersAbove(path)));
    const wrong = tests
      .filter(({ path, folder }) => folder !== '.' && !(dirname(path) in WITHOUT_SUBJECT))
      .filter(({ folder }) => !folders.has(folder))
      .map(({ path }) => path);
    expect(tests.length).toBeGreaterThan(300);
    expect(wrong).toEqual([]);
  });

  it('by the folder of the one module of the feature that has their name', () => {
    const wrong = tests.flatMap(({ path, folder }) => {
      const [name] = basename(path).split('.');
      const feature = featureOf(`${folder}/`);
      const named = modules.filter(
        (module) =>
          featureOf(module) === feature && basename(module).replace(/\.tsx?$/, '') === name,
      );
      const own = new Set(named.map((module) => dirname(module)));
      return own.size !== 1 || own.has(folder) ? [] : [`${path} is of ${[...own]}`];
    });
    expect(wrong).toEqual([]);
  });
});

/** `service` and `service/http` of `service/http/app.ts`. */
function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === '.' ? [] : [...foldersAbove(folder), folder];
}

describe('what belongs to the command line alone', () => {
  it.each(['process.exit', 'process.env', 'process.argv', 'console.'])('%s', (name) => {
    const users = sourceFiles()
      .filter(({ path, text }) => top(path) !== 'cli' && withoutComments(text).includes(name))
      .map(({ path }) => path);
    expect(users).toEqual([]);
  });
});
