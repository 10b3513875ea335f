// Assembles the content of an image: the modules that its commands import, the packages that these
// need with their dependencies, the documents of the handbook, and a bill of materials and the
// licences of the packages. Run it in the build stage, where dist and node_modules are:
//
//   node docker/assemble-image.mjs agent|service FOLDER
//
// It fails rather than leave out a file that a module needs, or include one that only development
// needs.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isNeeded } from './needed-files.mjs';
import { writeThirdParty } from './third-party.mjs';

const MAIN = 'dist/cli/main.js';
const TOPICS = 'dist/handbook/topics.js';
const REFUSE = `import { VedetteError } from '../../runtime/errors.js';
throw new VedetteError('usage', 'NOT_IN_THIS_IMAGE', 'up, service, account and user are in the image vedette, and this one has the others');
`;

/**
 * Modules that replace our own in an image, so that the imports of these are left out. The help of
 * commands reads the tables of variables, also if an argument has the name of a command.
 */
const IN_PLACE = {
  agent: {
    'dist/cli/up/up-command.js': REFUSE,
    'dist/cli/commands/service-command.js': REFUSE,
    'dist/cli/commands/operator-command.js': REFUSE,
    'dist/cli/up/environment.js': 'export const UP_ENVIRONMENT = [];\n',
    'dist/service/config.js': `export const SERVICE_ENVIRONMENT = [];
export const MAINTENANCE_ENVIRONMENT = { migrate: [], decrypt: [], account: [], accountRemoval: [], user: [] };
`,
  },
  service: {},
};

/** Folders and files that a module reads instead of importing them. */
const READ = /new URL\('(\.\/[\w-]+(?:\/|\.json)|(?:\.\.\/)+[\w-][\w/-]*\/)', import\.meta\.url\)/g;
/** The compiler writes its own imports, of the JSX runtime, with double quotes. */
const STATIC = /^(?:import|export)\b(?:[^'"`;=(]*?\bfrom)?\s*['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\('([^']+)'\)/g;
/** Worker threads. */
const BESIDE = /new URL\('(\.[^']+\.js)', import\.meta\.url\)/g;
const COMMENT = /^\s*(?:\*|\/\/|\/\*).*$/gm;

/**
 * @param {string} root the folder of package.json, dist and node_modules
 * @param {'agent' | 'service'} image
 * @returns {{ modules: string[], read: string[], packages: string[], inPlace: Record<string, string> }}
 *   paths below root; packages with the dependencies of packages
 */
export function closureOf(root, image) {
  const inPlace = IN_PLACE[image];
  const modules = new Set();
  const read = new Set();
  const names = new Set();
  const waiting = [MAIN];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (modules.has(path)) continue;
    modules.add(path);
    const source = inPlace[path] ?? readFileSync(join(root, path), 'utf8');
    const code = source.replace(COMMENT, '');
    const here = dirname(path);
    for (const pattern of [STATIC, DYNAMIC, BESIDE]) {
      for (const [, specifier] of code.matchAll(pattern)) {
        if (specifier.startsWith('.')) waiting.push(join(here, specifier));
        else if (!specifier.startsWith('node:')) names.add(packageName(specifier));
      }
    }
    for (const [, beside] of code.matchAll(READ)) read.add(join(here, beside));
  }
  for (const path of Object.keys(inPlace)) {
    if (!modules.has(path)) throw new Error(`${path} is no longer imported: correct IN_PLACE`);
  }
  return {
    modules: [...modules],
    read: [...read],
    packages: packagesOf(root, names),
    inPlace,
  };
}

function packageName(specifier) {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** The folders of the packages and of all their dependencies. */
function packagesOf(root, names) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const found = new Set();
  const waiting = [...names].map((name) => ({ name, from: '', needed: true }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const folder = folderOf(root, next);
    if (folder === null || found.has(folder)) continue;
    if (lock[folder]?.dev === true) throw new Error(`${folder} is there for development alone`);
    found.add(folder);
    const text = readFileSync(join(root, folder, 'package.json'), 'utf8');
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } =
      JSON.parse(text);
    const add = (table, isNeeded) => {
      for (const name of Object.keys(table ?? {})) {
        waiting.push({ name, from: folder, needed: isNeeded(name) });
      }
    };
    add(optionalDependencies, () => false);
    // npm also lists the optional dependencies among the others.
    add(dependencies, (name) => optionalDependencies?.[name] === undefined);
    // Optional peer dependencies are included only if another package needs them.
    const peers = Object.keys(peerDependencies ?? {});
    const wanted = peers.filter((name) => peerDependenciesMeta?.[name]?.optional !== true);
    add(Object.fromEntries(wanted.map((name) => [name, ''])), () => true);
  }
  return [...found];
}

/** The folder in which Node finds the package; null if it is optional and not installed. */
function folderOf(root, { name, from, needed }) {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('/')))) {
    const folder = join(place, 'node_modules', name);
    if (existsSync(join(root, folder, 'package.json'))) return folder;
    if (place === '') break;
  }
  if (needed) throw new Error(`${name} is not installed, and ${from || 'Vedette'} needs it`);
  return null;
}

/** The documents that the handbook shows, by their paths below root. */
async function documentsOf(root, { modules }) {
  if (!modules.includes(TOPICS)) throw new Error(`${TOPICS} is no longer imported: correct TOPICS`);
  const { HANDBOOK_DOCUMENTS } = await import(pathToFileURL(join(root, TOPICS)).href);
  return HANDBOOK_DOCUMENTS;
}

function copy(root, { modules, read, packages, inPlace }, documents, target) {
  for (const path of modules) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    const stub = inPlace[path];
    if (stub === undefined) cpSync(join(root, path), join(target, path));
    else writeFileSync(join(target, path), stub);
  }
  for (const path of read) cpSync(join(root, path), join(target, path), { recursive: true });
  for (const folder of packages) {
    const inner = join(root, folder, 'node_modules');
    cpSync(join(root, folder), join(target, folder), {
      recursive: true,
      filter: (path) => path !== inner && isNeeded(relative(join(root, folder), path)),
    });
  }
  // package.json contains the version, and declares the modules as ESM.
  for (const file of ['package.json', 'LICENSE', ...documents]) {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    cpSync(join(root, file), join(target, file));
  }
}

/** Imports each module in the target folder, except those that start work when they are loaded. */
async function load(target, { modules, inPlace }) {
  const starts = (path) =>
    path === MAIN || path.endsWith('-worker.js') || inPlace[path]?.includes('throw');
  for (const path of modules.filter((each) => !starts(each))) {
    await import(pathToFileURL(join(target, path)).href);
  }
}

async function main([image, folder]) {
  if (IN_PLACE[image] === undefined || folder === undefined) {
    throw new Error('use: node docker/assemble-image.mjs agent|service FOLDER');
  }
  const target = resolve(folder);
  if (existsSync(target) && readdirSync(target).length > 0)
    throw new Error(`${target} is not empty`);
  const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
  if (!relative(root, target).startsWith('..')) throw new Error(`${target} is inside of ${root}`);
  const closure = closureOf(root, image);
  const { modules, packages } = closure;
  copy(root, closure, await documentsOf(root, closure), target);
  const isService = image === 'service';
  const subject = isService ? 'vedette' : 'vedette-agent';
  const what = { subject, folders: packages, withDashboard: isService, withNode: true };
  writeThirdParty(root, what, target);
  await load(target, closure);
  process.stdout.write(`${image}: ${modules.length} modules, ${packages.length} packages\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
