import { VedetteError } from '../../runtime/errors.ts';
import { sleep } from '../../runtime/wait.ts';
import { paletteFor, wantsColour } from '../print/colour.ts';
import { harmless } from '../print/harmless.ts';
import type { OutputFormat } from '../print/output-format.ts';
import { askService, type ServiceQuestion } from '../service-api/ask-service.ts';
import { EXIT, type Terminal } from '../terminal.ts';
import { type CheckSelection, requestRuns, stillOpen } from '../trigger/check-runs.ts';
import {
  endedMembers,
  outcomeOf,
  queuedOf,
  readGroupRun,
  requestGroupRun,
} from '../trigger/group-run.ts';
import { jsonRun, plainRun, runLines, summaryText } from '../trigger/trigger-text.ts';
import { isBad, type TriggeredRun } from '../trigger/triggered-run.ts';

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

const POLL_MS = 1_000;
/** With many open runs: one request for each would fill the rate limit of the service. */
const POLL_MANY_MS = 5_000;
const MANY = 10;
/** After so long, a run that has not ended may wait for an agent that is not there. */
const EXPLAINED_WAIT_MS = 15_000;

/**
 * Runs checks of a service now, outside their schedule; with `wait` until all have ended.
 *
 * @returns EXIT.ok, EXIT.failed where the service refused a run or, with `wait`, one did not pass, or
 *   what interrupted it
 * @throws VedetteError where the options name no check, or a variable, the key or the service is unusable
 */
export function triggerCommand(
  options: TriggerOptions,
  terminal: Terminal,
  exitNow: (exitCode: number) => void,
): Promise<number> {
  const { wait, location } = options;
  const what = selectionOf(options);
  return askService(
    terminal,
    exitNow,
    async (question) => {
      const printer = new RunPrinter(options, terminal);
      if (typeof what === 'string') await triggerGroup(what, options, question, printer, terminal);
      else {
        const { client, signal } = question;
        const runs = await requestRuns(client, what, location, signal);
        const isOpen = ({ ending }: TriggeredRun): boolean => wait && ending === 'queued';
        for (const run of runs) if (!isOpen(run)) printer.print(run);
        let open: readonly TriggeredRun[] = runs.filter(isOpen);
        let waitedMs = 0;
        while (open.length > 0) {
          const delayMs = pollMs(open.length);
          if (!(await sleep(terminal.clock, delayMs, signal))) break;
          open = await stillOpen(client, open, (run) => printer.print(run), signal);
          const isExplained = waitedMs >= EXPLAINED_WAIT_MS;
          waitedMs += delayMs;
          if (!isExplained && waitedMs >= EXPLAINED_WAIT_MS) explainWait(open, terminal);
        }
      }
      printer.end();
      const { exitCode } = question.interruption;
      if (exitCode !== null) return exitCode;
      return printer.runs.some(isBad) ? EXIT.failed : EXIT.ok;
    },
    { use: 'run' },
  );
}

async function triggerGroup(
  group: string,
  { wait, location }: TriggerOptions,
  { client, signal }: ServiceQuestion,
  printer: RunPrinter,
  { clock }: Terminal,
): Promise<void> {
  let run = await requestGroupRun(client, group, location, signal);
  if (!wait) {
    for (const member of queuedOf(run)) printer.print(member);
    return;
  }
  const printed = new Set<number>();
  for (;;) {
    for (const [position, member] of endedMembers(run)) {
      if (printed.has(position)) continue;
      printed.add(position);
      printer.print(await outcomeOf(client, member, signal));
    }
    const isEnded = run.state === 'ended' || run.state === 'cancelled';
    if (isEnded || !(await sleep(clock, POLL_MS, signal))) return;
    run = await readGroupRun(client, run.id, signal);
  }
}

/** Without an agent in the location a run expires only after minutes. */
function explainWait([first, ...others]: readonly TriggeredRun[], { stderr }: Terminal): void {
  if (first === undefined) return;
  const id = harmless(first.checkId);
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const line = `still waiting for ${id}${more}; see whether an agent of the location is online: vedette explain ${id}`;
  stderr.write(`vedette: ${line}\n`);
}

function pollMs(open: number): number {
  return open > MANY ? POLL_MANY_MS : POLL_MS;
}

/** The group to run, or which checks. */
function selectionOf({ check, tag, group }: TriggerOptions): CheckSelection | string {
  const given = [check.length > 0, tag.length > 0, group !== null].filter((is) => is).length;
  if (given !== 1) {
    const message =
      'name what to run by one of --check, --tag and --group; see vedette trigger --help';
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
          ? runLines(run, paletteFor(wantsColour(stdout, env)))
          : [plainRun(run)];
    stdout.write(lines.map((line) => `${line}\n`).join(''));
  }

  /** Sums up, for people. */
  end(): void {
    const { stdout } = this.#terminal;
    if (this.#options.output === 'json' || stdout.isTTY !== true) return;
    stdout.write(`\n${summaryText(this.runs)}\n`);
  }
}
