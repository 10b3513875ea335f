import { loadCheckFile } from '../../agent/source/file/load-check-file.ts';
import { ApiClient, isInterrupted } from '../apply/api-client.ts';
import { carryOut } from '../apply/carry-out.ts';
import { loadConnection } from '../apply/connection.ts';
import { fileLines } from '../apply/file-lines.ts';
import { leftOutText } from '../apply/left-out.ts';
import { knownLocations, placed, refusedByLocation } from '../apply/locations.ts';
import { makePlan } from '../apply/make-plan.ts';
import type { Plan, Refusal, Step } from '../apply/plan.ts';
import { doneText, planText, refusalLines } from '../apply/plan-text.ts';
import type { VariableStep } from '../apply/variable-plan.ts';
import { writeVariables } from '../apply/write-variables.ts';
import { watchForInterruption } from '../interruption.ts';
import { paletteFor, wantsColour } from '../print/colour.ts';
import { harmless } from '../print/harmless.ts';
import { EXIT, type Terminal } from '../terminal.ts';
import { createTerminalLog } from '../terminal-log.ts';

export interface ApplyOptions {
  readonly dryRun: boolean;
  /** Deletes the checks of the account that are not in the file. */
  readonly prune: boolean;
  /** The slug for checks that name no location; null for the only one that there is. */
  readonly location: string | null;
}

/** Shorter waits for the service are not printed. */
const TOLD_WAIT_MS = 2_000;

/**
 * Makes the variables and checks of a service those of a file, and prints what changes.
 *
 * @returns EXIT.ok, EXIT.failed where one was refused, or what interrupted it
 * @throws VedetteError where the file, a variable, the location, the key or the service is unusable
 */
export async function applyCommand(
  file: string,
  options: ApplyOptions,
  terminal: Terminal,
  exitNow: (exitCode: number) => void,
): Promise<number> {
  const { stdout, stderr, env, clock } = terminal;
  const connection = loadConnection(env);
  const checkFile = await loadCheckFile(file);
  const log = createTerminalLog(terminal, 'error');
  const interruption = watchForInterruption(terminal, log, exitNow);
  const client = new ApiClient({
    ...connection,
    clock,
    onWait: (delayMs) => {
      if (delayMs < TOLD_WAIT_MS) return;
      stderr.write(`the service asks to wait ${Math.ceil(delayMs / 1000)} s\n`);
    },
  });
  const done: { variables: VariableStep[]; steps: Step[] } = { variables: [], steps: [] };
  try {
    const leftOut = leftOutText(checkFile);
    if (leftOut !== null) stderr.write(`vedette: ${leftOut}\n`);
    const { location, prune } = options;
    const { signal } = interruption;
    const known = () => knownLocations(client, signal);
    const checks = await placed(checkFile.checks, location, known);
    const fateOf = () => (prune ? 'delete' : 'keep');
    const { variables } = checkFile;
    const plan = await makePlan({ checks, variables, fateOf }, client, signal);
    stdout.write(planText(plan, paletteFor(wantsColour(stdout, env))));
    if (options.dryRun) {
      const refusals = [...plan.refusals, ...refusedByLocation(plan.steps, await known())];
      await printRefusals(file, refusals, terminal);
      stdout.write(dryRunText(plan, refusals.length));
      return EXIT.ok;
    }
    const ofVariables = await writeVariables(plan.variables.steps, client, signal, (step) => {
      done.variables.push(step);
    });
    const outcome = await carryOut(plan.steps, client, signal, (step) => {
      done.steps.push(step);
    });
    const refusals = [...ofVariables, ...plan.refusals, ...outcome.refusals];
    await printRefusals(file, refusals, terminal);
    const refused = refusals.length === 0 ? '' : `, ${refusals.length} refused`;
    if (stepCount(plan) + refusals.length > 0) stdout.write(`\n${doneText(done)}${refused}\n`);
    return refusals.length > 0 ? EXIT.failed : EXIT.ok;
  } catch (thrown) {
    if (done.variables.length + done.steps.length > 0) {
      stdout.write(`\nstopped early: ${doneText(done)}\n`);
    }
    if (isInterrupted(thrown) && interruption.exitCode !== null) return interruption.exitCode;
    throw thrown;
  } finally {
    interruption.dispose();
    await client.close();
  }
}

/** @param refused how many checks are certain to be refused; only the service knows of others */
function dryRunText(plan: Plan, refused: number): string {
  if (stepCount(plan) + refused === 0) return '';
  const writes = plan.variables.steps.length + plan.steps.filter(isWrite).length;
  const certain = refused === 0 ? '' : `; ${refused} would be refused`;
  const possible = writes === 0 ? '' : '; the service may still refuse what only it can check';
  return `\nnothing was changed: --dry-run${certain}${possible}\n`;
}

function isWrite({ kind }: Step): boolean {
  return kind !== 'delete';
}

function stepCount({ variables, steps }: Plan): number {
  return variables.steps.length + steps.length;
}

async function printRefusals(
  file: string,
  refusals: readonly Refusal[],
  { stderr }: Pick<Terminal, 'stderr'>,
): Promise<void> {
  if (refusals.length === 0) return;
  const lineOf = await fileLines(file);
  for (const refusal of refusals) {
    for (const line of refusalLines(harmless(file), refusal, lineOf)) stderr.write(`${line}\n`);
  }
}
