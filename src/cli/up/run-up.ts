import { rm } from 'node:fs/promises';
import type { CheckSet } from '../../agent/source/check-source.ts';
import { createFileSource } from '../../agent/source/file/file-source.ts';
import { NO_RESOURCES } from '../../model/check-file/sections.ts';
import { VedetteError } from '../../runtime/errors.ts';
import type { StopSignals } from '../../runtime/lifecycle.ts';
import type { Logger } from '../../runtime/logger.ts';
import { isInTime, sleep } from '../../runtime/wait.ts';
import { unfilledNote } from '../apply/fill-secrets.ts';
import { certificatesNote } from '../apply/plan-text.ts';
import { paletteFor, wantsColour } from '../print/colour.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import { ApiClient, isInterrupted } from '../service-api/api-client.ts';
import { startedAs } from '../started-as.ts';
import type { Terminal } from '../terminal.ts';
import type { UpConfig, UpFolders } from './environment.ts';
import { urlOf } from './environment.ts';
import { FileApplier } from './file-applier.ts';
import { FileWatch } from './file-watch.ts';
import { greeting } from './greeting.ts';
import { localLocation } from './local-location.ts';
import { openBrowser } from './open-browser.ts';
import { Processes } from './processes.ts';
import { removedEntriesText } from './removed-entries.ts';
import { printsChangesOnly } from './result-filter.ts';
import { openResultPrinter } from './result-printer.ts';
import { unsentChannelNotes } from './unsent-channels.ts';
import { openState, saveState, type UpState } from './up-state.ts';

export interface UpParts {
  readonly file: string;
  readonly folders: UpFolders;
  readonly config: UpConfig;
  readonly terminal: Terminal;
  readonly log: Logger;
  readonly stop: StopSignals;
  /** Whether to open the page for signing in. */
  readonly opensBrowser: boolean;
  /** Whether to print every run, however many checks there are. */
  readonly all: boolean;
}

const STOPPING = 'Stopping when the running checks have ended; Ctrl-C again stops at once.\n';
/** Delay before a change that the service did not accept is applied again. */
const RETRY_MS = 5_000;

/**
 * Starts the service and the agent, gives the service the checks of the file, and shows the results
 * until a signal stops it.
 *
 * @throws VedetteError where the file, the folder or the machine is unusable; ChildFailed where
 *   one of the two ends before both are ready
 */
export async function runUp(parts: UpParts): Promise<void> {
  const { file, folders, terminal, log, stop } = parts;
  const { clock } = terminal;
  // An invalid file is reported before anything starts.
  const ended = new AbortController();
  const watched = AbortSignal.any([stop.stopping, ended.signal]);
  const files = new FileWatch(createFileSource({ file, clock, log }), watched);
  const first = await files.next();
  if (first === null) return;
  const note = certificatesNote(first);
  if (note !== null) log.warn(note);
  let unsent = '';
  warnOfUnsent(first);

  const results = openResultPrinter(parts, first.checks);
  const { line: onResult, attempt: onAttempt } = results;
  const processes = new Processes({ terminal, now: stop.now, onResult, onAttempt });
  try {
    const session = await start(parts, processes, first);
    try {
      results.show(session.greeting);
      processes.keep();
      if (parts.opensBrowser) {
        const page = { file: folders.openedPage, url: session.signInUrl };
        await openBrowser(page, (line) => void terminal.stderr.write(`vedette: ${line}\n`));
      }
      await processes.orFailed(isInTime(follow(session.applier), stop.stopping));
    } finally {
      if (stop.stopping.aborted) terminal.stdout.write(STOPPING);
      await processes.end();
      await session.client.close();
    }
  } catch (thrown) {
    // Stopped while it was starting: no error to report.
    if (!(isInterrupted(thrown) && stop.stopping.aborted)) throw thrown;
  } finally {
    ended.abort();
    await processes.end();
    await results.end();
    await rm(folders.openedPage, { force: true });
  }

  /** Printed again only for another channel. */
  function warnOfUnsent(set: CheckSet): void {
    const unfilled = unfilledNote(set);
    const unsentNotes = unsentChannelNotes(set, terminal.env);
    const notes = unfilled === null ? unsentNotes : [unfilled, ...unsentNotes];
    const before = unsent;
    unsent = notes.join('\n');
    if (unsent !== before) for (const each of notes) log.warn(each);
  }

  async function follow(applier: FileApplier): Promise<void> {
    const { stopping } = stop;
    await applier.runFirst(first?.checks ?? [], stopping);
    for (let set = await files.next(); set !== null; set = await files.next()) {
      results.know(set.checks);
      warnOfUnsent(set);
      while (!(await applier.reapply(set, stopping))) {
        if (!(await sleep(clock, RETRY_MS, stopping))) return;
        set = files.takeNewest() ?? set;
      }
    }
  }
}

interface Session {
  readonly applier: FileApplier;
  readonly client: ApiClient;
  readonly greeting: string;
  /** The page that `--open` opens. */
  readonly signInUrl: string;
}

const NO_LINKS = { signInUrl: null, setupUrl: null };

/** Starts both processes and applies the file. */
async function start(
  { file, folders, config, terminal, log, stop, all }: UpParts,
  processes: Processes,
  first: CheckSet,
): Promise<Session> {
  const { stdout, stderr, clock, env } = terminal;
  const { stopping } = stop;
  const opened = await openState(folders.state);
  let { state } = opened;
  const change = async (changes: Partial<UpState>): Promise<void> => {
    state = { ...state, ...changes };
    await saveState(folders.state, state);
  };
  if (opened.isNew) {
    stderr.write(
      `First start: making a database in ${terminalSafe(folders.service)}, a moment ...\n`,
    );
  }

  const { apiKey } = state;
  const { listening: port, links = NO_LINKS } = await processes.start(
    'service',
    ['service'],
    (port) => config.serviceEnvironment(apiKey, port),
    stopping,
  );
  const serviceUrl = urlOf(config.host, port);
  const client = new ApiClient({ serviceUrl, apiKey, clock, onWait: () => {} });
  try {
    const location = await processes.orFailed(
      knownKey(localLocation(state.location, client, stopping), folders.state),
    );
    if (location !== state.location) await change({ location });

    const listening = processes.start(
      'agent',
      ['agent', '--print-results'],
      (port) => config.agentEnvironment(serviceUrl, location.key, port),
      stopping,
    );
    const applier = new FileApplier({
      file,
      client,
      log,
      fromFile: { checks: state.checks, resources: state.resources },
      onApplied: ({ checks, resources }) =>
        change({ checks: [...checks], resources: [...resources] }),
      printLine: (line) => void stderr.write(`${line}\n`),
    });
    const applied = applier.apply(first, stopping);
    const [{ listening: healthPort }, done] = await processes.orFailed(
      Promise.all([listening, applied]),
    );
    const agentUrl = urlOf(config.healthHost, healthPort);
    const { checks, resources = NO_RESOURCES } = first;
    const pages = resources.sections.statusPages;
    const removed = removedEntriesText(done, first);
    const addresses = { serviceUrl, agentUrl, links };
    const changesOnly = printsChangesOnly(checks, { all });
    const key = { apiKey, isNewKey: opened.isNew, stateFile: folders.state };
    const shown = { file, checks, pages, removed, changesOnly, program: startedAs(terminal) };
    const facts = { ...shown, ...addresses, ...key };
    const palette = paletteFor(wantsColour(stdout, env));
    return {
      applier,
      client,
      greeting: greeting(facts, palette),
      signInUrl: links.signInUrl ?? links.setupUrl ?? new URL('/sign-in', serviceUrl).href,
    };
  } catch (thrown) {
    await client.close();
    throw thrown;
  }
}

/** `up` made this key itself, so a refusal has another cause than with `apply`. */
async function knownKey<T>(request: Promise<T>, stateFile: string): Promise<T> {
  try {
    return await request;
  } catch (thrown) {
    if (!(thrown instanceof VedetteError) || thrown.code !== 'API_KEY_REFUSED') throw thrown;
    const message = `the database does not know the API key in ${stateFile}: the file and the database belong to different installations; use the database of that file, or another --data folder`;
    throw new VedetteError('environment', 'API_KEY_UNKNOWN', message);
  }
}
