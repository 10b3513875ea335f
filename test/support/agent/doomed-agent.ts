import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { type AgentOptions, type RunningAgent, startAgent } from '../service/deployment.ts';

/** One process of an agent, started repeatedly with the same DATA_DIR. */
export interface AgentLife extends RunningAgent {
  /** The FINALs that it has printed so far. */
  finals(): readonly PrintedFinal[];
  /** The FINALs that it has saved as done: none of them may be lost. */
  doneFinals(): readonly PrintedFinal[];
}

export type PrintedFinal = Pick<CheckResult, 'id' | 'checkId' | 'checkRunId'>;

interface Accounted {
  readonly upToMs: number;
  readonly unfinished: readonly (readonly [checkId: string, slotMs: number])[];
}

/** @param number of this process: each writes to its own file, whose last line may be incomplete */
export async function liveAgain(
  options: AgentOptions & { readonly dataDir: string },
  number: number,
): Promise<AgentLife> {
  const stdoutFile = join(options.dataDir, `printed-${number}.ndjson`);
  const agent = await startAgent({ ...options, stdoutFile });
  const finals = (): readonly PrintedFinal[] =>
    wholeLines(readFileSync(stdoutFile, 'utf8'))
      .map((line) => JSON.parse(line))
      .filter(({ resultType }) => resultType === 'FINAL');
  return {
    ...agent,
    finals,
    doneFinals() {
      const file = join(options.dataDir, 'accounted.json');
      if (!existsSync(file)) return [];
      const { upToMs, unfinished }: Accounted = JSON.parse(readFileSync(file, 'utf8'));
      const open = new Set(unfinished.map(([checkId, slotMs]) => `${checkId} ${slotMs}`));
      return finals().filter(
        ({ checkId, checkRunId: slotMs }) => slotMs <= upToMs && !open.has(`${checkId} ${slotMs}`),
      );
    },
  };
}

/** All lines except the last, which a killed process may have left unfinished. */
function wholeLines(text: string): readonly string[] {
  return text.split('\n').slice(0, -1);
}

/** The lines of a log at level error. */
export function errorsIn(log: string): readonly string[] {
  return log.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
}
