// The last lines of a run of CI: `node .ci/report.mjs FOLDER [--record]`. How long each part took, what failed and how
// to run it alone, what was flaky, and one line that counts the tests. FOLDER has parts.tsv (name, seconds,
// exit code) and Vitest's JSON reports, the one of a repetition as NAME.again.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { readTestReport } from './vitest-report.mjs';

const VITEST = 'npx vitest run';
/** The reports of the parts, and what runs one of their tests alone. */
const COMMANDS = {
  test: VITEST,
  lts: 'npx -p node@24 node node_modules/vitest/vitest.mjs run',
  system: VITEST,
  containers: VITEST,
  break: VITEST,
  bench: 'npm run bench -- --short #',
};
const LONGER = 2;
/** A short part may take a few seconds more by chance. */
const MIN_LONGER_SECONDS = 20;

const [folder, option] = process.argv.slice(2);
const lastFile = process.env.LAST_TIMES ?? `${import.meta.dirname}/last-times.json`;
const parts = readFileSync(`${folder}/parts.tsv`, 'utf8').trimEnd().split('\n').map(partOf);
const last = JSON.parse(readFileSync(lastFile, 'utf8'));
const reports = Object.entries(COMMANDS).map(([name, command]) => ({
  name,
  command,
  first: readTestReport(`${folder}/${name}.json`),
  again: readTestReport(`${folder}/${name}.again.json`),
}));
const broken = reports.filter(({ first }) => first === null).map(({ name }) => name);
const failures = reports.flatMap(({ first, again, command }) =>
  ((again ?? first)?.failures ?? []).map((failure) => ({ ...failure, command })),
);
const flaky = reports.flatMap(({ first, again, command }) =>
  (again === null ? [] : flakyOf(first, again)).map((failure) => ({ ...failure, command })),
);
const passed = reports.reduce((sum, { first }) => sum + (first?.passed ?? 0), 0) + flaky.length;
const skipped = reports.reduce((sum, { first }) => sum + (first?.skipped ?? 0), 0);
const failedParts = parts.filter(({ status }) => status !== 0).map(({ name }) => name);

if (option === '--record') {
  const times = Object.fromEntries(parts.map(({ name, seconds }) => [name, seconds]));
  writeFileSync(lastFile, `${JSON.stringify(times, null, 2)}\n`);
}

print('\nTimes', timesTable());
print('Took twice their share of the last run', longerParts());
print('Failed parts', failedParts);
print('Failed', failures.map(describe));
print('Ended before they could report', broken);
print('Flaky: failed, and passed when repeated', flaky.map(describe));
console.log(`\n${skipped} skipped; a skipped test counts as failed here`);
// What fails outside of any test counts as one.
const named = failures.length + broken.length + skipped;
const failed = named === 0 && failedParts.length > 0 ? 1 : named;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

function partOf(line) {
  const [name, seconds, status] = line.split('\t');
  return { name, seconds: Number(seconds), status: Number(status) };
}

function timesTable() {
  const total = sum(parts.map(({ seconds }) => seconds));
  const rows = parts.map(({ name, seconds, status }) => {
    const before = last[name] === undefined ? 'new' : `last ${last[name]} s`;
    return `${String(seconds).padStart(5)} s  ${name}${status === 0 ? '' : ' FAILED'} (${before})`;
  });
  return [...rows, `${String(total).padStart(5)} s  in all (last ${sum(Object.values(last))} s)`];
}

/** By shares of the whole, since one machine is slower than another. */
function longerParts() {
  const total = sum(parts.map(({ seconds }) => seconds));
  const lastTotal = sum(Object.values(last));
  return parts
    .filter(({ name, seconds }) => {
      const expected = ((last[name] ?? seconds) / lastTotal) * total;
      return seconds >= LONGER * expected && seconds - expected >= MIN_LONGER_SECONDS;
    })
    .map(({ name, seconds }) => `${name}: ${seconds} s, last ${last[name]} s of ${lastTotal} s`);
}

function flakyOf(first, again) {
  const still = new Set(again.failures.map(nameOf));
  return first.failures.filter((failure) => !still.has(nameOf(failure)));
}

function nameOf({ file, name }) {
  return `${file} ${name}`;
}

function describe({ file, name, message, command }) {
  const reason = message.split('\n')[0];
  const only = name === null ? '' : ` -t '${patternOf(name)}'`;
  return `${name ?? 'the file as a whole'}\n    ${reason}\n    ${command} ${file}${only}`;
}

/** The name as a regular expression, in single quotes of a shell. */
function patternOf(name) {
  return name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll("'", "'\\''");
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

function print(title, lines) {
  if (lines.length === 0) return;
  console.log(`${title}:`);
  for (const line of lines) console.log(`  ${line}`);
}
