// Checks and sets the version of Vedette in all files that contain it.
//
//   node docker/release/version.mjs check VERSION [FOLDER]   exits with 1 if a file has another
//   node docker/release/version.mjs set VERSION [FOLDER]     writes it to all but CHANGELOG.md
//   node docker/release/version.mjs notes VERSION [FOLDER]   prints its section of CHANGELOG.md
//
// FOLDER is the root of the repository, by default that of this file.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const USAGE = 'usage: node docker/release/version.mjs check|set|notes VERSION [FOLDER]';
/** As in semver.org, without build metadata, which tags of images cannot have. */
const VERSION = /^\d+\.\d+\.\d+(?:-[\dA-Za-z.-]+)?$/;
const ANY = '(\\d+\\.\\d+\\.\\d+(?:-[\\dA-Za-z.-]+)?)';

/** Paths, each with a pattern of the text before the version. */
const PLACES = [
  ['package.json', '^ {2}"version": "'],
  ['package-lock.json', '^ {2}"version": "'],
  ['package-lock.json', '^ {4}"": \\{\\s+"name": "vedette",\\s+"version": "'],
  ['docker/helm/vedette/Chart.yaml', '^version: '],
  ['docker/helm/vedette/Chart.yaml', '^appVersion: '],
  ['docker/agent.Dockerfile', '^ARG VERSION='],
  ['docker/service.Dockerfile', '^ARG VERSION='],
  ['docker/README.md', '^ {4}newTag: '],
  ['docker/README.md', 'registry\\.internal/vedette:'],
  ['README.md', '^Vedette (?=\\d)'],
].map(([path, before]) => ({ path, pattern: new RegExp(`(${before})${ANY}`, 'gm') }));

/** @returns {string[]} a line for each file that has another version, or none */
function problems(root, version) {
  const found = PLACES.flatMap(({ path, pattern }) => {
    const versions = [...read(root, path).matchAll(pattern)].map((match) => match[2]);
    if (versions.length === 0) return [`${path} has no version at ${pattern.source}`];
    return versions.filter((each) => each !== version).map((each) => `${path} has version ${each}`);
  });
  const isNoted = notes(root, version) !== null;
  return [...new Set(found), ...(isNoted ? [] : [`CHANGELOG.md has no part [${version}]`])];
}

function set(root, version) {
  for (const { path, pattern } of PLACES) {
    const text = read(root, path).replace(pattern, (_, before) => `${before}${version}`);
    writeFileSync(join(root, path), text);
  }
}

/** @returns {string | null} null if there is no such part */
function notes(root, version) {
  const parts = read(root, 'CHANGELOG.md').split(/^(?=## \[)/m);
  const part = parts.find((each) => each.startsWith(`## [${version}]`));
  return part === undefined ? null : `${part.slice(part.indexOf('\n')).trim()}\n`;
}

function read(root, path) {
  return readFileSync(join(root, path), 'utf8');
}

function main([command, version = '', folder]) {
  const root = resolve(folder ?? join(dirname(fileURLToPath(import.meta.url)), '../..'));
  if (!VERSION.test(version) || !['check', 'set', 'notes'].includes(command)) end(2, [USAGE]);
  else if (command === 'set') set(root, version);
  else if (command === 'notes') process.stdout.write(notes(root, version) ?? '');
  else end(1, problems(root, version));
}

/** Prints the lines and exits with the code; does nothing without lines. */
function end(code, lines) {
  if (lines.length === 0) return;
  process.stderr.write(`${lines.join('\n')}\n`);
  process.exitCode = code;
}

main(process.argv.slice(2));
