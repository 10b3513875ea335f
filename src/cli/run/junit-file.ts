import type { Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf, systemCodeOf, VedetteError } from '../../runtime/errors.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import type { Terminal } from '../terminal.ts';
import { JunitReport, type JunitSuite } from './junit-report.ts';

/** The report of a run and the file that gets it. */
export interface JunitFile {
  /** Collects the results. */
  readonly report: JunitReport;
  /**
   * Writes the report; prints a line on stderr if this fails.
   *
   * @returns whether it was written
   */
  write(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Empties or creates the file, so that a report of an earlier run does not stay.
 *
 * @param inputs files that the run reads: none of them is overwritten
 * @throws VedetteError, before any check runs, if the file is one of the inputs or cannot be written
 */
export async function openJunitFile(
  path: string,
  suite: JunitSuite,
  inputs: readonly string[],
  { stderr, clock }: Pick<Terminal, 'stderr' | 'clock'>,
): Promise<JunitFile> {
  if (await isOneOf(path, inputs)) {
    const message = `--junit would overwrite ${path}, which the run reads: name another file`;
    throw new VedetteError('usage', 'JUNIT_FILE', message);
  }
  const file = await openForWriting(path);
  const report = new JunitReport(suite);
  const startMs = clock.monotonicMs();
  return {
    report,
    async write() {
      try {
        await file.writeFile(report.xml(clock.monotonicMs() - startMs));
        return true;
      } catch (error) {
        stderr.write(`vedette: ${terminalSafe(problemOf(path, error), 2_000)}\n`);
        return false;
      }
    },
    close: () => file.close(),
  };
}

/** Whether two paths are the same file, also through links. */
async function isOneOf(path: string, inputs: readonly string[]): Promise<boolean> {
  const own = await fileAt(path);
  for (const input of inputs) {
    if (resolve(input) === resolve(path)) return true;
    const other = await fileAt(input);
    if (own !== null && other !== null && own.dev === other.dev && own.ino === other.ino)
      return true;
  }
  return false;
}

/** null if there is no such file or it cannot be read; opening it then reports why. */
function fileAt(path: string): Promise<Stats | null> {
  return stat(path).catch(() => null);
}

async function openForWriting(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'w');
  } catch (error) {
    throw new VedetteError('environment', 'JUNIT_FILE', problemOf(path, error));
  }
}

function problemOf(path: string, error: unknown): string {
  return `the JUnit report cannot be written to ${path} (${systemCodeOf(error) ?? messageOf(error)})`;
}
