import { VedetteError } from '../../runtime/errors.ts';
import { paletteFor, wantsColour } from '../print/colour.ts';
import { lineWidth } from '../print/columns.ts';
import type { OutputFormat } from '../print/output-format.ts';
import { type RequestContext, requestService } from '../service-api/request-service.ts';
import { startedAs } from '../started-as.ts';
import { EXIT, type Terminal } from '../terminal.ts';
import { type CheckSelection, requestRuns } from './check-runs.ts';
import { queuedOf, requestGroupRun } from './group-run.ts';
import { jsonRun, plainRun, runLines, summaryText } from './trigger-text.ts';
import { isNotPassed, type TriggeredRun } from './triggered-run.ts';
import { waitForGroup, waitForRuns } from './wait-for-runs.ts';

export interface TriggerOptions {
  /** Ids of checks. Exactly one of these three is given. */
  readonly check: readonly string[];
  readonly tag: readonly string[];
  /** The number of a group, its id in the check file, or its name; null for none. */
  readonly group: string | null;
  /** The slug of the location to run in; null to leave it to the service. */
  readonly location: string | null;
  readonly wait: boolean;
  readonly output: OutputFormat;
}

/**
 * Runs checks of a service now, outside their schedule; with `wait` until all have ended.
 *
 * @returns EXIT.ok, EXIT.failed if the service refused a run or, with `wait`, a run did not pass, or
 *   what interrupted it
 * @throws VedetteError where the options name no check, or a variable, the key or the service is unusable
 */
export function triggerCommand(
  options: TriggerOptions,
  terminal: Terminal,
  exitNow: (exitCode: number) => void,
): Promise<number> {
  const { wait, location } = options;
  const what = selectionOf(options, startedAs(terminal));
  return requestService(
    terminal,
    exitNow,
    async (context) => {
      const printer = new RunPrinter(options, terminal);
      if (typeof what === 'string') await triggerGroup(what, options, context, printer, terminal);
      else {
        const { client, signal } = context;
        const runs = await requestRuns(client, what, location, signal);
        const isOpen = ({ ending }: TriggeredRun): boolean => wait && ending === 'queued';
        for (const run of runs) if (!isOpen(run)) printer.print(run);
        const open = runs.filter(isOpen);
        await waitForRuns(context, open, (run) => printer.print(run), terminal);
      }
      printer.end();
      const { exitCode } = context.interruption;
      if (exitCode !== null) return exitCode;
      return printer.runs.some(isNotPassed) ? EXIT.failed : EXIT.ok;
    },
    { use: 'run' },
  );
}

async function triggerGroup(
  group: string,
  { wait, location }: TriggerOptions,
  context: RequestContext,
  printer: RunPrinter,
  terminal: Terminal,
): Promise<void> {
  const { client, signal } = context;
  const run = await requestGroupRun(client, group, location, signal);
  if (wait) await waitForGroup(context, run, (member) => printer.print(member), terminal);
  else for (const member of queuedOf(run)) printer.print(member);
}

/**
 * A text is the group to run.
 *
 * @param program the beginning of commands
 * @throws VedetteError of kind `usage` unless exactly one option is given
 */
function selectionOf(
  { check, tag, group }: TriggerOptions,
  program: string,
): CheckSelection | string {
  const given = [check.length > 0, tag.length > 0, group !== null].filter((is) => is).length;
  if (given !== 1) {
    const message = `give one of --check, --tag and --group; see ${program} trigger --help`;
    throw new VedetteError('usage', 'TRIGGER_WHAT', message);
  }
  if (group !== null) return group;
  return check.length > 0 ? { ids: check } : { tags: tag };
}

/** Prints each run once it has ended, or was requested. */
class RunPrinter {
  readonly #options: TriggerOptions;
  readonly #terminal: Terminal;
  readonly runs: TriggeredRun[] = [];

  constructor(options: TriggerOptions, terminal: Terminal) {
    this.#options = options;
    this.#terminal = terminal;
  }

  print(run: TriggeredRun): void {
    this.runs.push(run);
    const { stdout, env } = this.#terminal;
    const lines =
      this.#options.output === 'json'
        ? [jsonRun(run)]
        : stdout.isTTY === true
          ? runLines(run, paletteFor(wantsColour(stdout, env)), lineWidth(stdout))
          : [plainRun(run)];
    stdout.write(lines.map((line) => `${line}\n`).join(''));
  }

  /** Prints a summary for people. */
  end(): void {
    const { stdout } = this.#terminal;
    if (this.#options.output === 'json' || stdout.isTTY !== true) return;
    stdout.write(`\n${summaryText(this.runs)}\n`);
  }
}
