import { isDeepStrictEqual } from 'node:util';
import { namesFromOthers } from '../../agent/secrets/render-check.ts';
import type { CheckSet } from '../../agent/source/check-source.ts';
import type { Check } from '../../model/check/check.ts';
import {
  type FileResources,
  NO_RESOURCES,
  SECTIONS,
  type Section,
} from '../../model/check-file/sections.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ApplyRefusal } from '../apply/check-plan.ts';
import {
  knownLocations,
  withExistingGroupLocations,
  withExistingLocations,
} from '../apply/locations.ts';
import { makePlan } from '../apply/plan.ts';
import { doneText } from '../apply/plan-text.ts';
import { refusalLines } from '../apply/refusal-lines.ts';
import { NOTHING_WRITTEN, type WriteHistory } from '../apply/write-history.ts';
import { type AppliedChanges, hasChanges, noChanges, writePlan } from '../apply/write-plan.ts';
import { inParallel } from '../apply/write-steps.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import { type ApiClient, isInterrupted } from '../service-api/api-client.ts';
import { LOCAL_SLUG } from './local-location.ts';
import { removedEntryAction } from './removed-entries.ts';

export interface FileApplierOptions {
  readonly file: string;
  readonly client: Pick<ApiClient, 'get' | 'send'>;
  readonly log: Logger;
  /** The entries that came from the file when it was last applied. */
  readonly fromFile: FromFile;
  /** Called with the entries that the service now has from the file. */
  readonly onApplied: (applied: FromFile) => Promise<void>;
  readonly printLine: (line: string) => void;
}

/** The entries that came from the file. */
export interface FromFile {
  /** Ids of checks. */
  readonly checks: readonly string[];
  /** Other entries, such as `statusPages/main`. */
  readonly resources: readonly string[];
}

/** Concurrent requests for runs. */
const CONCURRENCY = 4;

/** The part of a file that is applied to the service. */
type FileContent = Pick<CheckSet, 'checks' | 'variables' | 'resources' | 'fileName'>;

/**
 * Makes the service match the variables and checks of the file, after each change. A check removed
 * from the file is deactivated: its results may still be wanted, and so is a heartbeat. Channels,
 * groups, windows and status pages removed from the file are deleted. Variables removed from it stay.
 * Entries that did not come from the file are left unchanged.
 */
export class FileApplier {
  readonly #options: FileApplierOptions;
  #fromFile: FromFile;
  #written: WriteHistory = NOTHING_WRITTEN;

  constructor(options: FileApplierOptions) {
    this.#options = options;
    this.#fromFile = options.fromFile;
  }

  /**
   * @returns what was done; refusals are already reported
   * @throws VedetteError like ApiClient.send
   */
  async apply(
    { checks, variables, resources = NO_RESOURCES, fileName = null }: FileContent,
    signal: AbortSignal,
  ): Promise<AppliedChanges> {
    const { client, file, printLine } = this.#options;
    const written = this.#written;
    // After a write that fails halfway, the written values are unknown.
    this.#written = NOTHING_WRITTEN;
    const slugs = (await knownLocations(client, signal)).map(({ slug }) => slug);
    const placed = withExistingLocations(checks, slugs, LOCAL_SLUG);
    const [knownChecks, knownResources] = [
      new Set(this.#fromFile.checks),
      new Set(this.#fromFile.resources),
    ];
    const unlistedActionOf = (id: string) => removedEntryAction(knownChecks, id);
    const unlistedResourceOf = (section: Section, id: string) =>
      removedEntryAction(knownResources, entryName(section, id));
    const request = {
      checks: placed,
      variables,
      resources: withExistingGroupLocations(resources, slugs),
      fileName,
      unlistedActionOf,
      unlistedResourceOf,
      written,
    } as const;
    const plan = await makePlan(request, client, signal);
    const done = noChanges();
    const refusals = await writePlan(plan, { client, signal, done });
    for (const line of await refusalLines(file, refusals)) printLine(line);
    this.#written = writtenOf({ checks: placed, variables }, refusals);
    await this.#applied({
      checks: checks.map(({ id }) => id),
      resources: [...new Set([...namesOf(resources), ...undeleted(refusals)])],
    });
    return done;
  }

  /**
   * Applies a changed file: prints the changes, and runs the affected checks at once.
   *
   * @returns false if the service does not answer now
   */
  async reapply(set: FileContent, signal: AbortSignal): Promise<boolean> {
    const { log, printLine, file } = this.#options;
    try {
      const done = await this.apply(set, signal);
      if (hasChanges(done)) {
        printLine(`${terminalSafe(file)} has changed: ${doneText(done)}`);
      }
      await this.#runNow(concernedBy(done, set.checks), signal);
    } catch (thrown) {
      if (isInterrupted(thrown)) return true;
      log.error(`the changed check file is not applied yet: ${messageOf(thrown)}`);
      return false;
    }
    return true;
  }

  /** Runs the checks at once for their first results; if that fails, they run on their schedule. */
  async runFirst(checks: readonly Check[], signal: AbortSignal): Promise<void> {
    try {
      await this.#runNow(checks, signal);
    } catch (thrown) {
      if (isInterrupted(thrown)) return;
      this.#options.log.warn(`the checks are not run at once: ${messageOf(thrown)}`);
    }
  }

  /**
   * Requests a run of each check that is activated and runs on this machine.
   *
   * @throws VedetteError like ApiClient.send
   */
  async #runNow(checks: readonly Check[], signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options;
    const active = checks.filter(({ activated }) => activated);
    await inParallel(active, CONCURRENCY, async ({ id }) => {
      const path = `/v1/checks/${encodeURIComponent(id)}/run`;
      const reply = await client.send('POST', path, { body: { location: LOCAL_SLUG }, signal });
      // It runs elsewhere, or was refused before; its own slots come in any case.
      if (!reply.ok) log.debug({ checkId: id }, `no run at once: ${reply.message}`);
    });
  }

  async #applied(applied: FromFile): Promise<void> {
    if (isDeepStrictEqual(applied, this.#fromFile)) return;
    this.#fromFile = applied;
    await this.#options.onApplied(applied);
  }
}

function entryName(section: Section, id: string): string {
  return `${section}/${id}`;
}

function namesOf({ sections }: FileResources): readonly string[] {
  return SECTIONS.flatMap((section) => sections[section].map(({ id }) => entryName(section, id)));
}

/** The entries whose deletion was refused, such as a service that an open incident names; it is tried again. */
function undeleted(refusals: readonly ApplyRefusal[]): readonly string[] {
  return refusals.flatMap(({ kind, id }) =>
    kind === 'check' || kind === 'variable' || kind === 'escalation' ? [] : [entryName(kind, id)],
  );
}

/** The written checks, and the checks whose templates use a written variable. */
function concernedBy(
  { variables, steps }: AppliedChanges,
  checks: readonly Check[],
): readonly Check[] {
  const keys = new Set(variables.map(({ variable }) => variable.key));
  const using = checks.filter((check) => namesFromOthers(check).some((name) => keys.has(name)));
  const written = steps.flatMap((step) => (step.kind === 'delete' ? [] : [step.check]));
  return [...new Map([...using, ...written].map((check) => [check.id, check])).values()];
}

function writtenOf(
  { checks, variables }: FileContent,
  refusals: readonly ApplyRefusal[],
): WriteHistory {
  const refused = (kind: ApplyRefusal['kind']): ReadonlySet<string> =>
    new Set(refusals.filter((refusal) => refusal.kind === kind).map(({ id }) => id));
  const [refusedChecks, refusedVariables] = [refused('check'), refused('variable')];
  const takenChecks = checks.filter(({ id }) => !refusedChecks.has(id));
  const takenVariables = variables.filter(({ key }) => !refusedVariables.has(key));
  return {
    checks: new Map(takenChecks.map((check) => [check.id, check])),
    variables: new Map(takenVariables.map((variable) => [variable.key, variable])),
  };
}
