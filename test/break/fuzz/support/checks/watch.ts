import { renameSync, writeFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import type { CheckSet } from '../../../../../src/agent/source/check-source.ts';
import { createFileSource, POLL_MS } from '../../../../../src/agent/source/file/file-source.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { captureLog } from '../../../../support/log-capture.ts';
import { makeTempFolder } from '../../../../support/process/temp-folder.ts';

const good = (host: number): string =>
  `checks: [{ id: good, checkType: TCP, request: { hostname: h${host}, port: 1 } }]\n`;

/** A source that watches a file whose check is `good`. Ends with the test. */
export async function watchingFile(workerUrl: URL) {
  const folder = makeTempFolder();
  const file = folder.file('checks.yaml');
  const clock = new FakeClock();
  const { log, records } = captureLog();
  const source = createFileSource({ file, clock, log, workerUrl });
  const ended = new AbortController();
  const sets: CheckSet[] = [];
  let hosts = 0;
  const write = (text: string): void => {
    // Like editors, so that the file is never half written.
    writeFileSync(folder.file('next'), text);
    renameSync(folder.file('next'), file);
  };
  write(good(hosts));
  const onChecks = (set: CheckSet): void => void sets.push(set);
  let threads = 0;
  const onThread = (): void => {
    threads += 1;
  };
  process.on('worker', onThread);
  const watching = source.watch(
    { onChecks, onRun: () => {}, onRunCancelled: () => {}, onTrial: () => {} },
    ended.signal,
  );
  onTestFinished(async () => {
    ended.abort();
    await watching;
    process.off('worker', onThread);
    folder.remove();
  });
  const idle = (): Promise<void> => eventually(() => clock.pendingTimers === 1);
  await idle();
  /** Two polls: a change counts when the file was unchanged from one to the next. */
  const look = async (): Promise<void> => {
    for (let looks = 0; looks < 2; looks += 1) {
      await clock.advance(POLL_MS);
      await idle();
    }
  };
  return {
    ids: (): readonly string[] => sets.at(-1)?.checks.map(({ id }) => id) ?? [],
    /** Writes the text to the file, and returns the logged problems. */
    async refuses(text: string): Promise<string> {
      const before = sets.length;
      const linesBefore = records().length;
      write(text);
      await look();
      if (sets.length !== before) throw new Error('it became a new set');
      const warning = records()
        .slice(linesBefore)
        .find(({ level }) => level === 'warn');
      return String(warning?.msg ?? 'nothing was logged');
    },
    /** Threads started so far. */
    threads: (): number => threads,
    /** Advances the clock without a change of the file. */
    async rests(durationMs: number): Promise<void> {
      await clock.advance(durationMs);
      await idle();
    },
    /** A valid file becomes a new set again. */
    async takesAgain(): Promise<void> {
      const before = sets.length;
      hosts += 1;
      write(good(hosts));
      await look();
      if (sets.length !== before + 1) throw new Error('a valid file did not become a new set');
    },
  };
}
