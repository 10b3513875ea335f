import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BillOfMaterials, problemsOf } from '../../support/containers/bill-of-materials.ts';
import { agentImageContents } from '../../support/containers/image-contents.ts';
import { type CommandEnd, runToEnd } from '../../support/containers/run-command.ts';
import { importsOf, sourceFiles } from '../../support/module-imports.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

const SCRIPT = join(import.meta.dirname, '../../../docker/assemble-image.mjs');
/** Type-only imports are absent from compiled code. */
const OF_TYPES = /^(?:import|export) type [^;]*;/gm;
const imports = importsOf(
  sourceFiles().map(({ path, text }) => ({ path, text: text.replace(OF_TYPES, '') })),
);
const folder = makeTempFolder();
let assembled: CommandEnd;

/** The transitive imports of a module of src, as in the architecture test. */
function reachedFrom(start: string): ReadonlySet<string> {
  const reached = new Set([start]);
  for (const module of reached) {
    for (const { from, to } of imports) {
      if (from === module) reached.add(to.replace(/\.js$/, '.ts'));
    }
  }
  return reached;
}

/** The names of packages. */
function packagesIn(modules: string): readonly string[] {
  return readdirSync(modules).flatMap((name) =>
    name.startsWith('@')
      ? readdirSync(join(modules, name)).map((inScope) => `${name}/${inScope}`)
      : [name],
  );
}

/** The names of packages, and the scopes of those that have one. */
function installedIn(modules: string): readonly string[] {
  const scopes = readdirSync(modules).filter((name) => name.startsWith('@'));
  return [...packagesIn(modules), ...scopes];
}

/** The paths of all files below a folder. */
function filesIn(path: string): readonly string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((each) => statSync(each).isFile());
}

function bytesIn(paths: readonly string[]): number {
  return paths.reduce((sum, each) => sum + statSync(each).size, 0);
}

function assembleTo(folder: string, image = 'agent') {
  return runToEnd(process.execPath, [SCRIPT, image, folder]);
}

beforeAll(async () => {
  assembled = await assembleTo(folder.path);
}, 60_000);
afterAll(() => folder.remove());

it("the agent's image contains the imports of its commands and nothing of the service", () => {
  expect(assembled).toMatchObject({ code: 0, stderr: '' });

  const commands = [
    'cli/commands/agent-command.ts',
    ...['run', 'validate', 'import', 'apply'].map((name) => `cli/${name}/${name}-command.ts`),
  ];
  const needed = [...commands, 'cli/main.ts'].flatMap((start) =>
    // The program itself imports every command.
    start === 'cli/main.ts' ? ['cli/main.ts', 'cli/program.ts'] : [...reachedFrom(start)],
  );
  const modules = needed.filter((path) => path.endsWith('.ts'));
  const notThere = modules.filter(
    (path) => !existsSync(folder.file(join('dist', path.replace(/\.ts$/, '.js')))),
  );
  expect(notThere).toEqual([]);
  const installed = installedIn(folder.file('node_modules'));
  const named = new Set(needed.filter((name) => !/\.ts$|^node:/.test(name)));
  expect([...named].filter((name) => !installed.includes(name))).toEqual([]);
  expect(installed).toContain('undici');

  const ofTheService = ['@aws-sdk', '@electric-sql', 'fastify', 'handlebars', 'nodemailer', 'pg'];
  const ofDevelopment = ['typescript', 'vitest', '@biomejs'];
  const toBeCompiled = ['net-ping', 'raw-socket', 'nan'];
  const unwanted = new Set([...ofTheService, ...ofDevelopment, ...toBeCompiled]);
  expect(installed.filter((name) => unwanted.has(name))).toEqual([]);
  expect(readdirSync(folder.file('dist/service'))).toEqual(['config.js']);
});

it("the agent's image contains the npm packages that its list in the README has, within its sizes", () => {
  const { npm, maxBytes } = agentImageContents();
  const installed = packagesIn(folder.file('node_modules'));
  // The list names the native part of each architecture; only one is installed.
  const isOfOtherMachine = (name: string): boolean =>
    name.startsWith('@koromix/') && !name.endsWith(`-${process.arch}`);
  expect(new Set(installed)).toEqual(new Set([...npm].filter((name) => !isOfOtherMachine(name))));

  const all = filesIn(folder.path);
  const ofNpm = all.filter((path) => path.startsWith(folder.file('node_modules/')));
  expect(bytesIn(ofNpm)).toBeLessThan(maxBytes.npm);
  expect(bytesIn(all) - bytesIn(ofNpm)).toBeLessThan(maxBytes.vedette);
  const needless = ofNpm.filter((path) => /\.(?:ts|map)$|\/musl_|\/bintrees\/test\//.test(path));
  expect(needless).toEqual([]);
  // Each package still has its licence, wherever it came with one.
  expect(ofNpm).toContain(folder.file('node_modules/real-require/LICENSE.md'));
});

it("the agent's image has a bill of materials of its npm packages and Node, and their licences", () => {
  const bill = JSON.parse(readFileSync(folder.file('sbom.cdx.json'), 'utf8')) as BillOfMaterials;
  expect(problemsOf(bill)).toEqual([]);
  const names = bill.components.map(({ name }) => name);
  const installed = packagesIn(folder.file('node_modules'));
  expect(new Set(names)).toEqual(new Set([...installed, 'node']));
  expect(new Set(names).size).toBe(names.length);
  const licences = readFileSync(folder.file('third-party-licenses.txt'), 'utf8');
  const labels = bill.components.map(({ name, version }) => `\n${name} ${version}: `);
  expect(labels.filter((label) => !licences.includes(label))).toEqual([]);
});

it('an assembled folder works on its own and names the image of the commands that it lacks', async ({
  signal,
}) => {
  // A command that is not refused would run on.
  const vedette = (...args: readonly string[]) =>
    runToEnd(process.execPath, [folder.file('dist/cli/main.js'), ...args], { env: {}, signal });
  expect(await vedette('--version')).toMatchObject({ code: 0, stderr: '' });
  expect(await vedette('apply', '--help')).toMatchObject({ code: 0, stderr: '' });
  const location = await vedette('location', 'add', 'office');
  expect(location.stderr).toMatch(/^vedette: SERVICE_URL is not set/);
  const topic = await vedette('help', 'evidence');
  expect(topic).toMatchObject({ code: 0, stderr: '' });
  expect(topic.stdout).toContain('Evidence of a failure');
  for (const command of [
    'service',
    'up',
    'account add shop',
    'account list',
    'account export shop',
    'account remove shop',
    'user add ann@example.com',
    'user reset-password a@b.c',
  ]) {
    const refusal = 'vedette: up, service, account and user are in the image vedette';
    const { code, stderr } = await vedette(...command.split(' '));
    expect({ code, refusal: stderr.slice(0, refusal.length) }).toEqual({ code: 2, refusal });
  }
  // An argument that only has the name of a command that is left out.
  expect((await vedette('validate', 'service')).stderr).toContain('service');
});

it('assembling refuses a folder that is not empty and an unknown image', async () => {
  const full = await assembleTo(join(import.meta.dirname));
  expect(full.code).not.toBe(0);
  expect(full.stderr).toContain('is not empty');
  expect((await assembleTo('/nowhere', 'all')).stderr).toContain('agent|service FOLDER');
});
