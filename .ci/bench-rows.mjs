// Judges the rows of a short benchmark: `node .ci/bench-rows.mjs ROWS REPORT`. Each part must have measured
// what it is there for; the report counts like one of tests.
import { readFileSync, writeFileSync } from 'node:fs';

const MEASURES = [
  /URL checks, plain HTTP/,
  /CPU a.* URL check/,
  /CPU a.* HTTPS check/,
  /CPU a.* TCP check/,
  /CPU a.* DNS check/,
  /ICMP echoes/,
  /Error of the round trip/,
  /Lateness of starts/,
  /Slots missed/,
  /Error of firstByte/,
  /Kept for each of .* idle checks/,
  /From spawn to first run/,
  /Upload of .* results/,
  /Upload of an artifact/,
  /Memory growth of the uploader/,
  /Service: results taken in/,
  /Service: a changed variable/,
  /Service: a changed check/,
  /Service: one agent leaves/,
  /Service: checks that moved/,
  /Scrubbing of/,
  /Status page: requests/,
  /Analytics:/,
];
const FIELDS = ['measure', 'value', 'unit', 'beside', 'besideValue', 'ratio', 'target', 'met'];

const [file, report] = process.argv.slice(2);
const { rows } = JSON.parse(readFileSync(file, 'utf8'));
const missing = MEASURES.filter((one) => !rows.some(({ measure }) => one.test(measure)));
const faults = [...missing.map((one) => `no row has ${one}`), ...rows.flatMap(faultsOf)];
console.log([...faults, `${rows.length} rows, ${faults.length} faults`].join('\n'));
const name = `${process.cwd()}/test/bench/main.ts`;
const isWhole = { fullName: 'the benchmark', status: 'passed', failureMessages: [] };
const result =
  faults.length === 0
    ? { status: 'passed', message: '' }
    : { status: 'failed', message: faults.join('; ') };
const assertionResults = faults.length === 0 ? [isWhole] : [];
writeFileSync(report, JSON.stringify({ testResults: [{ name, ...result, assertionResults }] }));
process.exitCode = faults.length === 0 ? 0 : 1;

function faultsOf(row) {
  const faults = FIELDS.filter((field) => !(field in row)).map((field) => `has no ${field}`);
  if (!Number.isFinite(row.value)) faults.push('has no value');
  if (row.beside !== null && !Number.isFinite(row.besideValue))
    faults.push('has nothing beside it');
  return faults.map((fault) => `${row.measure}: ${fault}`);
}
