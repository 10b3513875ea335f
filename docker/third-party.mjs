// Writes a bill of materials (CycloneDX 1.6, JSON) and the licence texts of third-party packages.
// assemble-image.mjs writes both for the images, and `npm pack` for the package, after the build:
//
//   node docker/third-party.mjs FOLDER
//
// The same lockfile gives the same bill. SOURCE_DATE_EPOCH, in seconds, adds a time to it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isLicence } from './needed-files.mjs';

export const BILL = 'sbom.cdx.json';
export const LICENCES = 'third-party-licenses.txt';
/** The packages that the bundler put into the dashboard, with their licences. */
const BUNDLED = 'dist/web/dashboard/licenses.json';
/** Enough for npm's list of a large tree. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * A third-party package.
 * @typedef {{ name: string, version: string, licence: string, text: string | null }} ThirdParty
 */

/**
 * Writes both files into the folder `target`.
 *
 * @param {string} root the folder of package.json, package-lock.json, dist and node_modules
 * @param {object} what
 * @param {string} what.subject the name of the image or package that contains them
 * @param {readonly string[]} what.folders of packages, as the lockfile names them
 * @param {boolean} what.withDashboard whether it contains the built dashboard
 * @param {boolean} what.withNode whether it contains the running version of Node
 * @param {string} target
 */
export function writeThirdParty(root, { subject, folders, withDashboard, withNode }, target) {
  const { version } = readJson(join(root, 'package.json'));
  const lock = readJson(join(root, 'package-lock.json')).packages;
  const installed = folders.map((folder) => packageAt(root, folder, lock[folder]));
  const bundled = withDashboard ? bundledPackages(root) : [];
  const node = withNode ? [nodeItself()] : [];
  const packages = [...installed, ...bundled];
  const bill = billOf(listOf(root), { subject, version, packages, node });
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, BILL), `${JSON.stringify(bill, null, 2)}\n`);
  const licences = licencesOf(`${subject} ${version}`, [...packages, ...node]);
  writeFileSync(join(target, LICENCES), licences);
}

/** npm's list of all packages of the lockfile, in CycloneDX 1.5, npm's newest format. */
function listOf(root) {
  const options = ['--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  const how = { cwd: root, encoding: 'utf8', maxBuffer: MAX_OUTPUT_BYTES };
  return JSON.parse(execFileSync('npm', ['sbom', ...options], how));
}

/** @returns {ThirdParty} */
function packageAt(root, folder, locked) {
  const path = join(root, folder);
  const name = locked.name ?? folder.split('node_modules/').at(-1);
  // Packages for other platforms are in the lockfile, but not installed here.
  const files = existsSync(path) ? readdirSync(path).filter(isLicence).sort() : [];
  const text = files.map((file) => readFileSync(join(path, file), 'utf8').trim()).join('\n\n');
  const { version, license: licence = 'UNKNOWN' } = locked;
  return { name, version, licence, text: text === '' ? null : text };
}

/** @returns {ThirdParty[]} */
function bundledPackages(root) {
  return readJson(join(root, BUNDLED)).map(({ name, version, identifier, text }) => {
    return { name, version, licence: identifier ?? 'UNKNOWN', text: text ?? null };
  });
}

/** Node's licence file includes those of its dependencies. @returns {ThirdParty} */
function nodeItself() {
  const file = join(dirname(process.execPath), '../LICENSE');
  const text = existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
  return { name: 'node', version: process.versions.node, licence: 'MIT', text };
}

/**
 * The part of npm's list that is shipped, as CycloneDX 1.6.
 *
 * @param {object} list CycloneDX 1.5
 * @param {{ subject: string, version: string, packages: readonly ThirdParty[], node: readonly ThirdParty[] }} what
 * @throws {Error} if npm's list lacks a package
 */
export function billOf(list, { subject, version, packages, node }) {
  const wanted = new Set(packages.map(({ name, version }) => `${name}@${version}`));
  const components = list.components
    .filter((component) => wanted.has(component['bom-ref']))
    .map(({ properties: _, externalReferences: __, ...component }) => component);
  const found = new Set(components.map((component) => component['bom-ref']));
  const missing = [...wanted].filter((ref) => !found.has(ref));
  if (missing.length > 0) throw new Error(`npm lists no ${missing.join(', ')}`);

  const platform = node.map(({ name, version: ofNode, licence }) => ({
    'bom-ref': `${name}@${ofNode}`,
    type: 'platform',
    name,
    version: ofNode,
    scope: 'required',
    purl: `pkg:generic/${name}@${ofNode}`,
    licenses: [{ license: { id: licence } }],
  }));
  const main = list.metadata.component['bom-ref'];
  const ref = `${subject}@${version}`;
  const dependencies = list.dependencies
    .filter((each) => each.ref === main || found.has(each.ref))
    .map((each) => {
      const dependsOn = each.dependsOn.filter((on) => found.has(on));
      if (each.ref !== main) return { ref: each.ref, dependsOn };
      return { ref, dependsOn: [...dependsOn, ...platform.map((one) => one['bom-ref'])] };
    });
  const content = {
    version: 1,
    metadata: {
      ...timestamp(),
      lifecycles: [{ phase: 'build' }],
      tools: { components: list.metadata.tools.map(toolOf) },
      component: {
        'bom-ref': ref,
        type: 'application',
        name: subject,
        version,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components: [...platform, ...components],
    dependencies,
  };
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: serialNumber(content),
    ...content,
  };
}

function toolOf({ vendor, name, version }) {
  return { type: 'application', name: vendor === 'npm' ? 'npm' : name, version };
}

function timestamp() {
  const { SOURCE_DATE_EPOCH: seconds = '' } = process.env;
  return /^\d+$/.test(seconds) ? { timestamp: new Date(Number(seconds) * 1000).toISOString() } : {};
}

/** A UUID of version 8 (RFC 9562), derived from the content: the same bill has the same number. */
function serialNumber(content) {
  const hex = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const variant = '89ab'[Number.parseInt(hex[16], 16) % 4];
  const groups = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return `urn:uuid:${groups.join('-')}`;
}

/**
 * A list of packages with their licences, then each text once.
 *
 * @param {string} title names the image or package that contains them
 * @param {readonly ThirdParty[]} packages
 */
export function licencesOf(title, packages) {
  const unique = new Map(packages.map((each) => [`${each.name} ${each.version}`, each]));
  const rows = [...unique].sort(([a], [b]) => (a < b ? -1 : 1));
  const holders = new Map();
  for (const [label, { text }] of rows) {
    if (text !== null) holders.set(text, [...(holders.get(text) ?? []), label]);
  }
  const texts = [...holders].map(([text, labels]) => `${labels.join(', ')}:\n\n${text}\n`);
  const list = rows.map(([label, { licence, text }]) => {
    return `${label}: ${licence}${text === null ? ' (it came without the text)' : ''}`;
  });
  const head = `Software of others in ${title}, with its licences\n\n${list.join('\n')}\n`;
  return [head, ...texts].join(`\n${'='.repeat(80)}\n\n`);
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function main([folder]) {
  if (folder === undefined) throw new Error('use: node docker/third-party.mjs FOLDER');
  const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
  const lock = readJson(join(root, 'package-lock.json')).packages;
  const folders = Object.keys(lock).filter((path) => path !== '' && lock[path].dev !== true);
  const what = { subject: 'vedette', folders, withDashboard: true, withNode: false };
  writeThirdParty(root, what, resolve(folder));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
