// The last lines of a run of CI: `node .ci/report.mjs FOLDER [--record|--nightly]`. How long each part took,
// what failed and how to run it alone, what was flaky, and one line that counts the tests. FOLDER has
// parts.tsv (name, seconds, exit code, percent of the cores' time in use), Vitest's JSON reports, the one of a
// repetition as NAME.again.json, and beside them NAME.json.unhandled with errors outside of any test.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readTestReport } from './vitest-report.mjs';

const VITEST = 'npx vitest run';
/** The reports of the parts, and what runs one of their tests alone. */
const COMMANDS = {
  test: VITEST,
  lts: 'npx -p node@24 node node_modules/vitest/vitest.mjs run',
  system: VITEST,
  containers: VITEST,
  browser: VITEST,
  break: VITEST,
  bench: 'npm run bench -- --short #',
};
/** What `.ci/run` sets: with the same values the same cases are tried, and nothing skips itself. */
const SETTINGS = [
  'CI',
  'NIGHTLY',
  'FUZZ_SEED',
  'BREAK_SEED',
  'KILL_SEED',
  'BREAK_FACTOR',
  'SOAK_MINUTES',
];
const LONGER = 2;
/** A short part may take a few seconds more by chance. */
const MIN_LONGER_SECONDS = 20;
/** Test files that take at least this long start before the others. */
const LONG_FILE_SECONDS = 5;

const [folder, option] = process.argv.slice(2);
const lastFile = process.env.LAST_TIMES ?? `${import.meta.dirname}/last-times.json`;
const longFile = process.env.LONG_FILES ?? `${import.meta.dirname}/long-files.json`;
const parts = readFileSync(`${folder}/parts.tsv`, 'utf8').trimEnd().split('\n').map(partOf);
const last = JSON.parse(readFileSync(lastFile, 'utf8'));
/** By the clock: parts that run side by side count once. */
const total = Number(process.env.WHOLE_SECONDS ?? sum(parts.map(({ seconds }) => seconds)));
const { 'in all': lastTotal, ...lastParts } = last;
const reports = Object.entries(COMMANDS).map(([name, command]) => reportOf(name, command));
const broken = reports.filter(({ files }) => files === null).map(({ name }) => name);
const files = reports.flatMap((report) => report.files ?? []);
const failures = files.flatMap((file) => file.failures);
const flaky = reports.flatMap((report) => report.flaky);
const failedParts = parts.filter(({ status }) => status !== 0).map(({ name }) => name);
const skipped = files.flatMap((file) => file.skipped);
// What fails outside of any test counts as one.
const named = failures.length + broken.length + skipped.length;
const failed = named === 0 && failedParts.length > 0 ? 1 : named;

if (option === '--record' && failed === 0) {
  const times = Object.fromEntries(parts.map(({ name, seconds }) => [name, seconds]));
  writeFileSync(lastFile, `${JSON.stringify({ ...times, 'in all': total }, null, 2)}\n`);
  writeFileSync(longFile, `${JSON.stringify(longFiles(), null, 2)}\n`);
}
print('\nTimes', timesTable());
if (option !== '--nightly') print('Took twice their share of the last run', longerParts());
print('Failed parts', failedParts);
print('Ended before they could report', broken);
print('Errors outside of any test', Object.keys(COMMANDS).flatMap(unhandledIn));
print('Failed', failures.map(describe));
print('Flaky: failed, and passed when repeated', flaky.map(describe));
print('Skipped, which counts as failed here', skipped);
console.log(`\n${sum(files.map((file) => file.passed))} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

function partOf(line) {
  const [name, seconds, status, busy] = line.split('\t');
  return { name, seconds: Number(seconds), status: Number(status), busy: Number(busy) };
}

/** A file that was repeated counts as it was then; what failed only before is flaky. */
function reportOf(name, command) {
  const first = readTestReport(`${folder}/${name}.json`);
  const again = new Map(
    (readTestReport(`${folder}/${name}.again.json`) ?? []).map((file) => [file.file, file]),
  );
  const withCommand = (file) => ({
    ...file,
    failures: file.failures.map((failure) => ({ ...failure, command })),
    skipped: file.skipped.map(({ name: test }) => `${test} (${file.file}, part ${name})`),
  });
  return {
    name,
    files: first?.map((file) => withCommand(again.get(file.file) ?? file)) ?? null,
    flaky: (first ?? []).flatMap((file) => flakyOf(withCommand(file), again.get(file.file))),
  };
}

function flakyOf(first, again) {
  if (again === undefined) return [];
  const still = new Set(again.failures.map(({ name }) => name));
  return first.failures.filter(({ name }) => !still.has(name));
}

function timesTable() {
  const rows = parts.map(({ name, seconds, status, busy }) => {
    const before = lastParts[name] === undefined ? 'new' : `last ${lastParts[name]} s`;
    const ended = status === 0 ? '' : ' FAILED';
    return `${String(seconds).padStart(5)} s  ${name}${ended} (${before}; cores ${busy} % busy)`;
  });
  return [...rows, `${String(total).padStart(5)} s  in all (last ${lastTotal} s)`];
}

/** Seconds of long files by path, the longest first. Of a file that several projects run, the longest run. */
function longFiles() {
  const seconds = {};
  for (const each of files.toSorted((a, b) => b.seconds - a.seconds)) {
    if (each.seconds >= LONG_FILE_SECONDS) seconds[each.file] ??= each.seconds;
  }
  return seconds;
}

/** By shares of the whole, since one machine is slower than another. */
function longerParts() {
  return parts
    .filter(({ name, seconds }) => {
      if (lastParts[name] === undefined) return false;
      const expected = (lastParts[name] / lastTotal) * total;
      return seconds >= LONGER * expected && seconds - expected >= MIN_LONGER_SECONDS;
    })
    .map(
      ({ name, seconds }) => `${name}: ${seconds} s, last ${lastParts[name]} s of ${lastTotal} s`,
    );
}

function describe({ file, name, message, command }) {
  const lines = message.split('\n');
  const seeds = lines.filter((line, index) => index > 0 && /\bseed\b/i.test(line));
  const only = name === null ? '' : ` -t '${patternOf(name)}'`;
  const settings = SETTINGS.filter((setting) => process.env[setting] !== undefined)
    .map((setting) => `${setting}=${process.env[setting]} `)
    .join('');
  const run = `${settings}${command} ${file}${only}`;
  // Vitest's word for a test whose time limit ended it.
  const error = lines[0].replace('STACK_TRACE_ERROR', 'the time limit ended it');
  return [name ?? `${file} as a whole`, error, ...seeds, run].join('\n    ');
}

/** The name as a regular expression, in single quotes of a shell. */
function patternOf(name) {
  return name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll("'", "'\\''");
}

function sum(numbers) {
  return numbers.reduce((all, number) => all + number, 0);
}

/** Each of them once: one cause often throws many. */
function unhandledIn(name) {
  const path = `${folder}/${name}.json.unhandled`;
  if (!existsSync(path)) return [];
  return [...new Set(readFileSync(path, 'utf8').trimEnd().split('\n'))];
}

function print(title, lines) {
  if (lines.length === 0) return;
  console.log(`${title}:`);
  for (const line of lines) console.log(`  ${line}`);
}
