import type { CheckSet } from '../../agent/source/check-source.ts';
import type { Check } from '../../model/check.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { type ApiClient, isInterrupted } from '../apply/api-client.ts';
import { carryOut, inParallel } from '../apply/carry-out.ts';
import { checkLines } from '../apply/check-lines.ts';
import { knownLocations, placedAmong } from '../apply/locations.ts';
import { makePlan } from '../apply/make-plan.ts';
import type { Step } from '../apply/plan.ts';
import { doneText, refusalText } from '../apply/plan-text.ts';
import { harmless } from '../print/harmless.ts';
import { LOCAL_SLUG } from './local-location.ts';

export interface FileApplierOptions {
  readonly file: string;
  readonly client: Pick<ApiClient, 'get' | 'send'>;
  readonly log: Logger;
  /** Ids of the checks that came from the file when it was last applied. */
  readonly fromFile: readonly string[];
  /** Called with those of now. */
  readonly onApplied: (ids: readonly string[]) => Promise<void>;
  /** One line for people. */
  readonly tell: (line: string) => void;
}

/** Runs asked for at once. */
const CONCURRENCY = 4;

/**
 * Makes the checks of the service those of the file, again and again. A check that has gone from the
 * file is deactivated: its results may be wanted yet. Checks that came another way are let be.
 */
export class FileApplier {
  readonly #options: FileApplierOptions;
  #fromFile: ReadonlySet<string>;

  constructor(options: FileApplierOptions) {
    this.#options = options;
    this.#fromFile = new Set(options.fromFile);
  }

  /**
   * @returns what was done; what was refused has been told
   * @throws VedetteError like ApiClient.send
   */
  async apply({ checks }: Pick<CheckSet, 'checks'>, signal: AbortSignal): Promise<readonly Step[]> {
    const { client, file, tell } = this.#options;
    const slugs = (await knownLocations(client, signal)).map(({ slug }) => slug);
    const placed = placedAmong(checks, slugs, LOCAL_SLUG);
    const plan = await makePlan(
      { checks: placed, fateOf: (id) => (this.#fromFile.has(id) ? 'deactivate' : 'keep') },
      client,
      signal,
    );
    const outcome = await carryOut(plan.steps, client, signal, () => {});
    const refusals = [...plan.refusals, ...outcome.refusals];
    if (refusals.length > 0) {
      const lineOf = await checkLines(file);
      for (const refusal of refusals) tell(refusalText(harmless(file), refusal, lineOf));
    }
    await this.#applied(checks);
    return outcome.done;
  }

  /**
   * A change of the file while all runs: what was done is told, and what is new is run at once.
   *
   * @returns false where the service does not answer now
   */
  async reapply(set: Pick<CheckSet, 'checks'>, signal: AbortSignal): Promise<boolean> {
    const { log, tell, file } = this.#options;
    try {
      const done = await this.apply(set, signal);
      if (done.length > 0) tell(`${harmless(file)} has changed: ${doneText(done)}`);
      const changed = done.flatMap((step) => (step.kind === 'delete' ? [] : [step.check]));
      await this.#runNow(changed, signal);
    } catch (thrown) {
      if (isInterrupted(thrown)) return true;
      log.error(`the changed check file is not applied yet: ${messageOf(thrown)}`);
      return false;
    }
    return true;
  }

  /** The first runs, so that results come at once; where they cannot be asked for, slots come. */
  async runFirst(checks: readonly Check[], signal: AbortSignal): Promise<void> {
    try {
      await this.#runNow(checks, signal);
    } catch (thrown) {
      if (isInterrupted(thrown)) return;
      this.#options.log.warn(`the checks are not run at once: ${messageOf(thrown)}`);
    }
  }

  /**
   * Asks for a run of each, of those that are activated and run on this machine.
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

  async #applied(checks: readonly Check[]): Promise<void> {
    const ids = checks.map(({ id }) => id);
    const isSame = ids.length === this.#fromFile.size && ids.every((id) => this.#fromFile.has(id));
    if (isSame) return;
    this.#fromFile = new Set(ids);
    await this.#options.onApplied(ids);
  }
}
