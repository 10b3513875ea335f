import { loadCheckFile } from '../../agent/source/file/load-check-file.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { readEnvFile } from '../env-file.ts';
import { watchForInterruption } from '../interruption.ts';
import { paletteFor, wantsColour } from '../print/colour.ts';
import { ApiClient, isInterrupted, waitPrinter } from '../service-api/api-client.ts';
import { loadConnection } from '../service-api/connection.ts';
import { EXIT, type Terminal } from '../terminal.ts';
import { createTerminalLog } from '../terminal-log.ts';
import type { ApplyRefusal, ApplyStep } from './check-plan.ts';
import { envFileWarning } from './env-file-names.ts';
import { filledSecrets, notComparedNote } from './fill-secrets.ts';
import { knownLocations, refusedByLocation, withDefaultLocation } from './locations.ts';
import { type ApplyPlan, makePlan } from './plan.ts';
import {
  certificatesNote,
  doneText,
  isDrift,
  planText,
  removalsText,
  totalsText,
} from './plan-text.ts';
import { refusalLines, warningLines } from './refusal-lines.ts';
import { takeoverWarning } from './takeovers.ts';
import { hasChanges, noChanges, type WriteOptions, writePlan } from './write-plan.ts';

export interface ApplyOptions {
  readonly dryRun: boolean;
  /** With `dryRun`: whether the exit code shows if the service differs from the file. */
  readonly exitCode: boolean;
  /** Deletes what the file created and no longer defines; if the file has no name, all other checks. */
  readonly prune: boolean;
  /** The slug for checks that name no location; null for the account's only location. */
  readonly location: string | null;
  /** The path of an env file with the values of {{NAME}} in channels and secret variables. */
  readonly envFile: string | null;
}

/**
 * Makes the variables, checks and other resources of a service match a file, and prints the changes.
 *
 * @returns EXIT.ok; EXIT.failed if a change was refused; EXIT.drift with `exitCode` if the service differs; or
 *   the exit code of the interruption
 * @throws VedetteError where the file, a variable, the location, the key or the service is unusable
 */
export async function applyCommand(
  file: string,
  options: ApplyOptions,
  terminal: Terminal,
  exitNow: (exitCode: number) => void,
): Promise<number> {
  const { stdout, stderr, env, clock } = terminal;
  if (options.exitCode && !options.dryRun) {
    const message =
      '--exit-code needs --dry-run: it says whether the service differs from the file';
    throw new VedetteError('usage', 'EXIT_CODE_WITHOUT_DRY_RUN', message);
  }
  const connection = loadConnection(env);
  const role = options.dryRun ? 'read' : 'write';
  const { envFile } = options;
  const read = await loadCheckFile(file);
  const given = envFile === null ? null : { path: envFile, values: await readEnvFile(envFile) };
  const isOptional = options.dryRun;
  const { checkFile, isSecret, lacking } = filledSecrets(file, read, given, { isOptional });
  const log = createTerminalLog(terminal, 'error');
  const interruption = watchForInterruption(terminal, log, exitNow);
  const client = new ApiClient({ ...connection, role, clock, onWait: waitPrinter(terminal) });
  const done = noChanges();
  try {
    for (const note of [certificatesNote(checkFile), notComparedNote(lacking)]) {
      if (note !== null) stderr.write(`vedette: ${note}\n`);
    }
    const { location, prune } = options;
    const { signal } = interruption;
    const warning = await envFileWarning(given, checkFile, client, signal);
    if (warning !== null) stderr.write(`vedette: ${warning}\n`);
    const known = () => knownLocations(client, signal);
    const checks = await withDefaultLocation(checkFile.checks, location, known);
    const { name: fileName, variables, resources } = checkFile;
    const unlistedResourceOf = () => (prune ? 'delete' : 'keep');
    // Such a file would make --prune delete all checks of the account.
    const isWithoutOwn = fileName === null && checks.length === 0;
    const unlistedActionOf = isWithoutOwn ? () => 'ignore' as const : unlistedResourceOf;
    const wanted = {
      checks,
      variables,
      resources,
      fileName,
      unlistedActionOf,
      unlistedResourceOf,
      isSecret,
      onlyReads: options.dryRun,
      isUnfilled: lacking.length > 0,
    } as const;
    const plan = await makePlan(wanted, client, signal);
    stdout.write(planText(plan, paletteFor(wantsColour(stdout, env))));
    const takeover = takeoverWarning(file, fileName, plan);
    if (takeover !== null) stderr.write(`vedette: ${takeover}\n`);
    if (options.dryRun) {
      const refusals = [
        ...plan.refusals,
        ...plan.resources.refusals,
        ...refusedByLocation(plan.steps, await known()),
      ];
      await printRefusals(file, refusals, terminal);
      stdout.write(dryRunText(plan, refusals.length));
      if (!options.exitCode) return EXIT.ok;
      if (refusals.length > 0) return EXIT.failed;
      return isDrift(plan) ? EXIT.drift : EXIT.ok;
    }
    const removals = removalsText(plan);
    if (removals !== null) stdout.write(`\nwill delete ${removals}\n`);
    const refusals = await writeAndReport(plan, { client, signal, done }, file, terminal);
    const refused = refusals.length === 0 ? '' : `, ${refusals.length} refused`;
    if (stepCount(plan) + refusals.length > 0) stdout.write(`\n${doneText(done)}${refused}\n`);
    return refusals.length > 0 ? EXIT.failed : EXIT.ok;
  } catch (thrown) {
    if (hasChanges(done)) {
      stdout.write(`\nstopped early: ${doneText(done)}\n`);
    }
    if (isInterrupted(thrown) && interruption.exitCode !== null) return interruption.exitCode;
    throw thrown;
  } finally {
    interruption.dispose();
    await client.close();
  }
}

/**
 * Writes the plan and prints warnings and refusals, including those before an error: a key that may write
 * checks but not the escalation fails only after all checks.
 */
async function writeAndReport(
  plan: ApplyPlan,
  options: Pick<WriteOptions, 'client' | 'signal' | 'done'>,
  file: string,
  terminal: Pick<Terminal, 'stderr'>,
): Promise<readonly ApplyRefusal[]> {
  const warnings = new Map<ApplyStep, readonly string[]>();
  const refusals: ApplyRefusal[] = [];
  try {
    return await writePlan(plan, {
      ...options,
      onWarnings: (step, ofStep) => void warnings.set(step, ofStep),
      onRefused: (some) => void refusals.push(...some),
    });
  } finally {
    const warned = plan.steps.flatMap((step) =>
      step.kind === 'delete' ? [] : { id: step.check.id, warnings: warnings.get(step) ?? [] },
    );
    for (const line of await warningLines(file, warned)) terminal.stderr.write(`${line}\n`);
    await printRefusals(file, refusals, terminal);
  }
}

/** @param refused how many checks are certain to be refused; only the service knows of others */
function dryRunText(plan: ApplyPlan, refused: number): string {
  if (stepCount(plan) + refused === 0) return '';
  const writes =
    plan.variables.steps.length +
    [...plan.steps, ...plan.resources.steps].filter(isWrite).length +
    (plan.escalation === null ? 0 : 1);
  const certain = refused === 0 ? '' : `; ${refused} would be refused`;
  const possible =
    writes === 0 ? '' : '; the service may still refuse changes that only it can check';
  const totals = totalsText(plan);
  const total = totals === null ? '' : `${totals}\n`;
  return `\n${total}nothing was changed: --dry-run${certain}${possible}\n`;
}

function isWrite({ kind }: Pick<ApplyStep, 'kind'>): boolean {
  return kind !== 'delete';
}

function stepCount({ variables, steps, resources, escalation }: ApplyPlan): number {
  const others = escalation === null ? 0 : 1;
  return variables.steps.length + steps.length + resources.steps.length + others;
}

async function printRefusals(
  file: string,
  refusals: readonly ApplyRefusal[],
  { stderr }: Pick<Terminal, 'stderr'>,
): Promise<void> {
  for (const line of await refusalLines(file, refusals)) stderr.write(`${line}\n`);
}
