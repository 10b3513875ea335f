import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Check } from '../../model/check/check.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { isInTime, sleep } from '../../runtime/wait.ts';
import {
  buildScrubber,
  combineScrubbers,
  NO_SECRETS,
  type Scrubber,
} from '../../scrub/scrubber.ts';
import {
  buildPartMask,
  createPartMask,
  MAX_INDEXED_CHARS,
  NO_PARTS,
  type PartMask,
} from '../../scrub/secret-parts.ts';
import type { OperatorVariables } from '../config/operator-variables.ts';
import { type AttemptSecrets, attemptSecretsOf } from './attempt-secrets.ts';
import {
  type AgentSecretsInput,
  checkSetSecrets,
  type NamedValue,
  secretsAmong,
} from './check-set-secrets.ts';
import { findOperatorSecrets } from './find-operator-secrets.ts';
import { secretForms } from './normal-forms.ts';
import type { OperatorSecrets } from './operator-secrets.ts';
import {
  compileScripted,
  namesFromOthers,
  type RenderedCheck,
  renderCheck,
  variableValuesIn,
} from './render-check.ts';
import { Placeholders, type ScriptView, scriptViewOf } from './script-view.ts';
import { SecretMemory } from './secret-memory.ts';
import { VariablesFolder } from './variables-folder.ts';

/** The values in one rendered request; later changes of variables do not affect them. */
interface FilledIn {
  /** The agent's own variables in it. */
  readonly own: OperatorSecrets;
  /** Masks parts of its secrets only (see secret-parts.ts). */
  readonly parts: PartMask;
}

export type RenderedWithSecrets<C> =
  | (Extract<RenderedCheck<C>, { ok: true }> & FilledIn)
  | Extract<RenderedCheck<C>, { ok: false }>;

/**
 * Fills the templates of checks, and masks secrets (src/model/README.md, "Variables and secrets").
 */
export interface AgentSecrets {
  /** The current scrubber; do not store it. */
  readonly scrubber: Scrubber;
  /**
   * Replaces the values. When it resolves, `render` uses them and the scrubber masks them. Replaced
   * secrets stay masked for an hour, for active runs and waiting results. Calls run one at a time.
   */
  take(given: AgentSecretsInput): Promise<void>;
  /**
   * Call it for a one-off run of a check that is in no set. When it resolves, the check's own
   * secrets are masked for an hour.
   */
  admit(check: Check): Promise<void>;
  /**
   * Fills in the templates of a check. The check's own variables take precedence over those of the
   * agent (environment, then files), and these over those given to `take`. Returns the same object
   * for a check without templates.
   */
  render<C extends Check>(check: C): RenderedWithSecrets<C>;
  /** The part of a check and of all variables that the scripts of an attempt get. */
  viewForScripts(check: Check): ScriptView;
  /**
   * Like `render`, for a check that scripts made of their view.
   *
   * @param set the variables that scripts have set
   */
  renderScripted<C extends Check>(
    view: ScriptView,
    check: C,
    set: ReadonlyMap<string, string>,
  ): RenderedWithSecrets<C>;
  /**
   * The credentials in the request of an attempt that `scrubber` does not mask. They are secret
   * only in this attempt: another check may use the same word (such as `dark` in a cookie) for
   * something else.
   *
   * @param sent the rendered check, or the check itself if it could not be rendered
   */
  credentials(check: Check, sent: Check): AttemptSecrets;
  /** A scrubber for the secrets that `scrubber` masks now and the given ones. */
  scrubberWith(secrets: AttemptSecrets): Promise<Scrubber>;
  /** The variables in templates that are not defined, sorted. */
  missing(checks: readonly Check[]): readonly string[];
  /** Reads VARIABLES_DIR again and expires replaced secrets until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
}

export interface AgentSecretsOptions {
  readonly operator: OperatorVariables;
  /** The location key and credentials of proxies; a function if they may change. */
  readonly always: readonly string[] | (() => readonly string[]);
  readonly clock: Clock;
  readonly log: Logger;
  /** For tests. */
  readonly build?: typeof buildScrubber;
}

/** Interval of the scans of the folder. */
const SCAN_MS = 1000;
/** Maximum number of names in a log line. */
const MAX_NAMED = 20;

/** The current values, without those that checks define themselves. */
interface Values {
  /** The agent's own variables. */
  readonly agent: ReadonlyMap<string, string>;
  readonly shared: ReadonlyMap<string, string>;
  /** Names of shared variables whose values the service cannot decrypt. */
  readonly unreadable: ReadonlySet<string>;
  /** The secrets of the checks, the shared variables and the proxy. */
  readonly secrets: readonly NamedValue[];
}

const NO_VALUES: Values = {
  agent: new Map(),
  shared: new Map(),
  unreadable: new Set(),
  secrets: [],
};

/** Resolves when the agent's own values are read and masked. */
export async function openAgentSecrets(options: AgentSecretsOptions): Promise<AgentSecrets> {
  const agentSecrets = new WatchedSecrets(options);
  await agentSecrets.open();
  return agentSecrets;
}

class WatchedSecrets implements AgentSecrets {
  readonly #options: AgentSecretsOptions;
  readonly #folder: VariablesFolder | null;
  readonly #memory: SecretMemory;
  #scrubber = NO_SECRETS;
  #parts = NO_PARTS;
  #values = NO_VALUES;
  #filesRead: ReadonlyMap<string, string> | null = null;
  #always: readonly string[] = [];
  /** The last fault that was logged. */
  #loggedFault: string | null = null;
  #hasLoggedPartsLeftOut = false;
  /** The end of the last serialized call. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: AgentSecretsOptions) {
    const { operator, clock, log } = options;
    this.#options = options;
    this.#folder =
      operator.folder === null
        ? null
        : new VariablesFolder({ folder: operator.folder, clock, log });
    this.#memory = new SecretMemory({ clock, log });
  }

  async open(): Promise<void> {
    await this.#folder?.read();
    this.#logUnboundNames();
    await this.#serialized(() => this.#putInForce({ ...NO_VALUES, agent: this.#agentValues() }));
  }

  get scrubber(): Scrubber {
    return this.#scrubber;
  }

  take(given: AgentSecretsInput): Promise<void> {
    return this.#serialized(async () => {
      const secrets = await checkSetSecrets(given);
      const shared = new Map(given.variables.map(({ key, value }) => [key, value]));
      const unreadable = new Set(given.unreadableVariables);
      await this.#putInForce({ agent: this.#agentValues(), shared, unreadable, secrets });
    });
  }

  admit(check: Check): Promise<void> {
    const secrets = secretsAmong(check.variables);
    if (secrets.length === 0) return Promise.resolve();
    return this.#serialized(async () => this.#know(await this.#memory.remember(secrets)));
  }

  render<C extends Check>(check: C): RenderedWithSecrets<C> {
    const rendered = renderCheck(check, this.#lookup, this.#values.unreadable);
    return rendered.ok
      ? { ...rendered, own: this.#ownIn(check, null), parts: this.#partsIn([check]) }
      : rendered;
  }

  viewForScripts(check: Check): ScriptView {
    const { agent, shared } = this.#values;
    const { targets } = this.#options.operator;
    const placeholders = new Placeholders();
    const others = new Map([...shared, ...agent]);
    for (const name of agent.keys()) {
      if (targets.has(name)) others.set(name, placeholders.of(name));
    }
    const own = check.variables.map(({ key, value }) => [key, value] as const);
    return scriptViewOf(check, [...new Map([...others, ...own])], placeholders);
  }

  renderScripted<C extends Check>(
    view: ScriptView,
    check: C,
    set: ReadonlyMap<string, string>,
  ): RenderedWithSecrets<C> {
    compileScripted(check, view.templateOf, set);
    const rendered = renderCheck(check, this.#lookup, this.#values.unreadable);
    if (!rendered.ok) return rendered;
    return {
      ...rendered,
      own: this.#ownIn(check, rendered.check),
      // Scripts may have copied the values of the check itself into other texts.
      parts: this.#partsIn([check, view.check]),
    };
  }

  #partsIn(checks: readonly Check[]): PartMask {
    const sent = checks
      .flatMap((check) => variableValuesIn(check, this.#lookup))
      .filter((value) => this.#memory.has(value));
    if (sent.length === 0) return NO_PARTS;
    let own: PartMask | null = null;
    // Built on demand: building the index takes longer than a lookup, and few texts contain a part.
    const ownOf = (text: string): PartMask => {
      if (!this.#parts.holdsPart(text)) return NO_PARTS;
      own ??= createPartMask(sent.flatMap(secretForms));
      return own;
    };
    return {
      text: (text) => ownOf(text).text(text),
      holdsPart: (text) => ownOf(text).holdsPart(text),
      charsLeftOut: 0,
    };
  }

  /** @param scripted the check with its values, if scripts made it */
  #ownIn(sent: Check, scripted: Check | null): OperatorSecrets {
    const { targets } = this.#options.operator;
    return findOperatorSecrets(sent, { agent: this.#values.agent, targets, scripted });
  }

  credentials(check: Check, sent: Check): AttemptSecrets {
    return attemptSecretsOf(check, sent, { known: this.#scrubber, lookup: this.#lookup });
  }

  async scrubberWith(secrets: AttemptSecrets): Promise<Scrubber> {
    if (secrets.values.length === 0) return this.#scrubber;
    // A few secrets take some ten microseconds, so the result is not cached for the next attempt.
    const own = await this.#build(secrets.values.flatMap(secretForms));
    return combineScrubbers(own, this.#scrubber);
  }

  missing(checks: readonly Check[]): readonly string[] {
    const missing = new Set<string>();
    for (const check of checks) {
      for (const name of namesFromOthers(check)) {
        const isDefined = this.#lookup(name) !== undefined || this.#values.unreadable.has(name);
        if (!isDefined) missing.add(name);
      }
    }
    return [...missing].sort((a, b) => (a < b ? -1 : 1));
  }

  async watch(signal: AbortSignal): Promise<void> {
    while (await sleep(this.#options.clock, SCAN_MS, signal)) {
      const scanned = this.#folder?.scan() ?? Promise.resolve();
      // The folder may be on a mount that does not respond.
      if (!(await isInTime(scanned, signal))) return;
      await this.#serialized(() => this.#refresh()).catch((error: unknown) =>
        this.#logFault(error),
      );
    }
  }

  readonly #lookup = (name: string): string | undefined =>
    this.#values.agent.get(name) ?? this.#values.shared.get(name);

  /** Applies changes of the files and of `always`, and the expiry of replaced secrets. */
  async #refresh(): Promise<void> {
    const isSame =
      this.#filesRead === (this.#folder?.values ?? null) &&
      isSameList(this.#always, this.#alwaysNow()) &&
      !this.#memory.hasExpired;
    if (!isSame) await this.#putInForce({ ...this.#values, agent: this.#agentValues() });
  }

  /** The last values stay in use, and the next scan tries again. */
  #logFault(error: unknown): void {
    const message = messageOf(error);
    if (message !== this.#loggedFault) {
      const what = 'changed values cannot be used, so the last ones stay in use';
      this.#options.log.error({ err: error }, `${what}: ${message}; please report this`);
    }
    this.#loggedFault = message;
  }

  async #putInForce(values: Values): Promise<void> {
    const always = this.#alwaysNow();
    const filesRead = this.#folder?.values ?? null;
    const known = await this.#memory.learn([
      ...always.map((value) => ({ name: null, value })),
      ...[...values.agent].map(([name, value]) => ({ name, value })),
      ...values.secrets,
    ]);
    // The scrubber first: no result may contain a value that is not masked.
    await this.#know(known);
    this.#values = values;
    this.#always = always;
    this.#filesRead = filesRead;
    this.#loggedFault = null;
  }

  /** @param secrets null if nothing changed */
  async #know(secrets: readonly string[] | null): Promise<void> {
    if (secrets === null) return;
    const parts = await buildPartMask(secrets, () => yieldToEventLoop());
    this.#scrubber = await this.#build(secrets);
    this.#parts = parts;
    this.#logPartsLeftOut(parts);
    this.#memory.masked(secrets);
  }

  #build(secrets: readonly string[]): Promise<Scrubber> {
    const { build = buildScrubber } = this.#options;
    return build(secrets, () => yieldToEventLoop());
  }

  #logPartsLeftOut({ charsLeftOut }: PartMask): void {
    const isNews = charsLeftOut > 0 && !this.#hasLoggedPartsLeftOut;
    this.#hasLoggedPartsLeftOut = charsLeftOut > 0;
    if (!isNews) return;
    this.#options.log.warn(
      { characters: charsLeftOut },
      `parts of secrets are masked only for the first ${MAX_INDEXED_CHARS} characters of all their forms`,
    );
  }

  /** Logs names without a value: if one is misspelt, its secret may be sent to any target. */
  #logUnboundNames(): void {
    const { operator, log } = this.#options;
    const values = this.#agentValues();
    const unknown = [...operator.targets.keys()].filter((name) => !values.has(name));
    if (unknown.length === 0) return;
    log.warn(
      { variables: unknown.length },
      `VARIABLE_TARGETS names ${unknown.slice(0, MAX_NAMED).join(', ')}, which VARIABLES_DIR does not have (yet)`,
    );
  }

  #agentValues(): ReadonlyMap<string, string> {
    return new Map([...(this.#folder?.values ?? []), ...this.#options.operator.fromEnv]);
  }

  #alwaysNow(): readonly string[] {
    const { always } = this.#options;
    return typeof always === 'function' ? always() : always;
  }

  #serialized(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}
