import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { missingPrograms } from './missing-programs.ts';
import { inOwnNetwork } from './own-network.ts';
import type { Part, PartContext } from './part.ts';
import { PARTS } from './parts.ts';
import { assertSection, writeReadme } from './readme.ts';
import { type Row, rowOf } from './row.ts';
import { tableOf } from './table.ts';

/** `npm run bench [-- PART... --short --json FILE --readme]`; dist must be compiled before. */

const HELP = `Compares the agent and the service with other tools that do the same work.

Usage: npm run bench -- [PART...] [--short] [--rounds N] [--json FILE] [--readme]

  PART         one or more of: ${PARTS.map(({ name }) => name).join(', ')}; by default
               all that take no more than a few minutes
  --short      one short round of each: only shows that it works
  --rounds N   how often each part is measured; default 3
  --json FILE  also writes the rows to the file
  --readme     writes the rows and the method of each part to test/bench/README.md

Example: npm run bench -- http dns --json rows.json`;
const DEFAULT_ROUNDS = 3;

interface Options {
  readonly parts: readonly Part[];
  readonly short: boolean;
  readonly rounds: number;
  readonly json: string | null;
  readonly readme: boolean;
}

function optionsOf(args: readonly string[]): Options | null {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      short: { type: 'boolean', default: false },
      rounds: { type: 'string', default: String(DEFAULT_ROUNDS) },
      json: { type: 'string' },
      readme: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return null;
  const unknown = positionals.find((name) => PARTS.every((part) => part.name !== name));
  if (unknown !== undefined) throw new Error(`there is no part ${unknown}; --help names them`);
  const usual = values.short ? PARTS : PARTS.filter(({ isLong = false }) => !isLong);
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new Error(`--rounds must be a whole number from 1, not ${values.rounds}`);
  }
  if (values.readme && values.short) throw new Error('--readme is not for figures of --short');
  return {
    parts:
      positionals.length === 0 ? usual : PARTS.filter(({ name }) => positionals.includes(name)),
    short: values.short,
    rounds: values.short ? 1 : rounds,
    json: values.json ?? null,
    readme: values.readme,
  };
}

/** Runs the parts one after the other. */
async function measured(
  { parts, short, rounds, readme }: Options,
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  if (readme) parts.forEach(assertSection);
  for (const part of parts) {
    const progress: PartContext['progress'] = (doing) =>
      process.stderr.write(`${part.name}: ${doing}\n`);
    const missing = missingPrograms(part);
    if (missing.length > 0) throw new Error(`${part.name} needs ${missing.join(', ')}`);
    const found = (await part.run({ short, rounds, progress, signal })).map(rowOf);
    const empty = found.find(({ value }) => !Number.isFinite(value));
    if (found.length === 0 || empty !== undefined) {
      throw new Error(`${part.name} measured nothing: ${empty?.measure ?? 'it has no rows'}`);
    }
    if (readme) writeReadme(part, found);
    rows.push(...found);
  }
  return rows;
}

async function main(): Promise<void> {
  const options = optionsOf(process.argv.slice(2));
  if (options === null) {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  const code = await inOwnNetwork();
  if (code !== null) {
    process.exitCode = code;
    return;
  }
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    // A terminal sends the signal to both processes, so it arrives twice.
    process.on(name, () => stop.abort(new Error(`interrupted by ${name}`)));
  }
  const rows = await measured(options, stop.signal).catch((error: unknown) => {
    // After a signal, the error of a killed tool is only a consequence.
    throw stop.signal.aborted ? stop.signal.reason : error;
  });
  process.stdout.write(`${tableOf(rows)}\n`);
  if (options.json !== null) {
    writeFileSync(options.json, `${JSON.stringify({ rows }, null, 2)}\n`);
  }
}

await main().catch((error: unknown) => {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
