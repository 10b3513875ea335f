import { sleep } from '../../runtime/wait.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import type { RequestContext } from '../service-api/request-service.ts';
import { startedAs } from '../started-as.ts';
import type { Terminal } from '../terminal.ts';
import { readOpenRuns } from './check-runs.ts';
import {
  endedMembers,
  type GroupRun,
  outcomeOf,
  readGroupRun,
  waitingChecks,
} from './group-run.ts';
import type { TriggeredRun } from './triggered-run.ts';

const POLL_MS = 1_000;
/** The interval with many open runs: one request per run would use up the rate limit of the service. */
const POLL_MANY_MS = 5_000;
const MANY = 10;
/** A run that takes longer may be waiting for an agent that is not connected. */
const EXPLAINED_WAIT_MS = 15_000;

type Requests = Pick<RequestContext, 'client' | 'signal'>;
type Output = Pick<Terminal, 'clock' | 'stderr' | 'env' | 'script'>;

/** Waits until all runs have ended or the signal aborts. Passes each ended run to `onEnded`. */
export async function waitForRuns(
  { client, signal }: Requests,
  runs: readonly TriggeredRun[],
  onEnded: (run: TriggeredRun) => void,
  output: Output,
): Promise<void> {
  const wait = new ExplainedWait(output);
  let open = runs;
  while (open.length > 0) {
    const pollMs = open.length > MANY ? POLL_MANY_MS : POLL_MS;
    if (!(await sleep(output.clock, pollMs, signal))) return;
    open = await readOpenRuns(client, open, onEnded, signal);
    wait.explain(open.map(({ checkId }) => checkId));
  }
}

/** Waits until the run of a group has ended, or the signal aborts. Passes each ended run to `onEnded`. */
export async function waitForGroup(
  { client, signal }: Requests,
  begun: GroupRun,
  onEnded: (run: TriggeredRun) => void,
  output: Output,
): Promise<void> {
  const wait = new ExplainedWait(output);
  const reported = new Set<number>();
  let run = begun;
  for (;;) {
    for (const [position, member] of endedMembers(run)) {
      if (reported.has(position)) continue;
      reported.add(position);
      onEnded(await outcomeOf(client, member, signal));
    }
    const isEnded = run.state === 'ended' || run.state === 'cancelled';
    if (isEnded || !(await sleep(output.clock, POLL_MS, signal))) return;
    run = await readGroupRun(client, run.id, signal);
    wait.explain(waitingChecks(run));
  }
}

/** Prints once why a wait may be long: without an agent in the location a run expires only after minutes. */
class ExplainedWait {
  readonly #output: Output;
  readonly #begunMs: number;
  #isExplained: boolean = false;

  constructor(output: Output) {
    this.#output = output;
    this.#begunMs = output.clock.monotonicMs();
  }

  /** @param checks those whose runs have not ended */
  explain([first, ...others]: readonly string[]): void {
    const { clock, stderr } = this.#output;
    if (first === undefined || this.#isExplained) return;
    if (clock.monotonicMs() - this.#begunMs < EXPLAINED_WAIT_MS) return;
    this.#isExplained = true;
    const id = terminalSafe(first);
    const program = startedAs(this.#output);
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const line = `still waiting for ${id}${more}; see whether an agent of the location is online: ${program} explain ${id}`;
    stderr.write(`vedette: ${line}\n`);
  }
}
