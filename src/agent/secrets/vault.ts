import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Check } from '../../model/check/check.ts';
import type { OwnVariable } from '../../model/check/variable.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { isInTime, sleep } from '../../runtime/wait.ts';
import { combineScrubbers } from '../../scrub/combine.ts';
import { buildScrubber, NO_SECRETS, type Scrubber } from '../../scrub/scrubber.ts';
import {
  buildPartMask,
  createPartMask,
  MAX_INDEXED_CHARS,
  NO_PARTS,
  type PartMask,
} from '../../scrub/secret-parts.ts';
import type { OperatorVariables } from '../config/operator-variables.ts';
import type { CheckSet } from '../source/check-source.ts';
import { type AttemptSecrets, attemptSecretsOf, formsOf } from './attempt-secrets.ts';
import { NO_OWN_SECRETS, OwnSecrets } from './own-secrets.ts';
import {
  isInBody,
  isInHost,
  namesFromOthers,
  type Rendered,
  renderCheck,
  valuesIn,
} from './render-check.ts';
import { otherFormsOf } from './secret-forms.ts';
import { SecretMemory } from './secret-memory.ts';
import { credentialsOf } from './url-credentials.ts';
import { VariablesFolder } from './variables-folder.ts';

/** What a request was filled in with, whatever becomes of the variables since. */
interface FilledIn {
  /** What of the agent's own values it has. */
  readonly own: OwnSecrets;
  /** Masks parts of the secrets that it has, and of no other (see parts.ts). */
  readonly parts: PartMask;
}

export type RenderedWithSecrets<C> =
  | (Extract<Rendered<C>, { ok: true }> & FilledIn)
  | Extract<Rendered<C>, { ok: false }>;

export type VaultInput = Pick<CheckSet, 'checks' | 'variables' | 'proxyUrl'>;

/**
 * Fills the templates of checks, and masks secrets (src/model/README.md, "Variables and secrets").
 */
export interface SecretsVault {
  /** Of now: ask for it anew each time. */
  readonly scrubber: Scrubber;
  /**
   * These values are in force from when it resolves, when the scrubber knows them as well. What went
   * stays secret for an hour, as runs are under way and results wait. Calls are taken one by one.
   */
  take(given: VaultInput): Promise<void>;
  /**
   * A check that is in no set, for a run beside the plan. From when it resolves its own secrets are
   * known for an hour; at once, as a rule, as they are.
   */
  admit(check: Check): Promise<void>;
  /**
   * The check with its values: its own, before those of the agent (environment, then files), before
   * those given. Without templates it comes back as the same object.
   */
  render<C extends Check>(check: C): RenderedWithSecrets<C>;
  /**
   * What the request of an attempt lets itself in with and `scrubber` does not know: secrets of that
   * attempt alone, as another check may send the same word (`dark`, in a cookie) for something else.
   *
   * @param sent the check as `render` gave it; itself where nothing was sent
   */
  credentials(check: Check, sent: Check): AttemptSecrets;
  /** Masks what `scrubber` masks, and these: of now, as that. */
  scrubberWith(secrets: AttemptSecrets): Promise<Scrubber>;
  /** The names that templates use and nobody has a value for, sorted. */
  missing(checks: readonly Check[]): readonly string[];
  /** Sees to what changes by itself (VARIABLES_DIR, time) until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
}

export interface VaultOptions {
  readonly operator: OperatorVariables;
  /** The location key and credentials of proxies; a function where they may change. */
  readonly always: readonly string[] | (() => readonly string[]);
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes the scrubber. */
  readonly build?: typeof buildScrubber;
}

/** Between two scans of the folder. */
const SCAN_MS = 1000;
/** Yields to the event loop after this many. */
const CHECKS_PER_YIELD = 100;

/** In one line of the log. */
const MAX_NAMED = 20;

interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/** Values in force, apart from those that checks have themselves. */
interface Values {
  /** The agent's own. */
  readonly agent: ReadonlyMap<string, string>;
  readonly shared: ReadonlyMap<string, string>;
  /** What is secret of the checks, the shared variables and the proxy. */
  readonly secrets: readonly NamedValue[];
}

const NO_VALUES: Values = { agent: new Map(), shared: new Map(), secrets: [] };

/** Resolves when the values of the agent's own are read and their scrubber is made. */
export async function openVault(options: VaultOptions): Promise<SecretsVault> {
  const vault = new Vault(options);
  await vault.open();
  return vault;
}

class Vault implements SecretsVault {
  readonly #options: VaultOptions;
  readonly #folder: VariablesFolder | null;
  readonly #memory: SecretMemory;
  #scrubber = NO_SECRETS;
  #parts = NO_PARTS;
  #values = NO_VALUES;
  #filesRead: ReadonlyMap<string, string> | null = null;
  #always: readonly string[] = [];
  /** The fault that was logged last. */
  #loggedFault: string | null = null;
  #hasLoggedPartsLeftOut = false;
  /** The end of what was asked for last. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: VaultOptions) {
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
    await this.#inTurn(() => this.#putInForce({ ...NO_VALUES, agent: this.#agentValues() }));
  }

  get scrubber(): Scrubber {
    return this.#scrubber;
  }

  take(given: VaultInput): Promise<void> {
    return this.#inTurn(async () => {
      const secrets = await secretsOf(given);
      const shared = new Map(given.variables.map(({ key, value }) => [key, value]));
      await this.#putInForce({ agent: this.#agentValues(), shared, secrets });
    });
  }

  admit(check: Check): Promise<void> {
    const secrets = secretsAmong(check.variables);
    if (secrets.length === 0) return Promise.resolve();
    return this.#inTurn(async () => this.#know(await this.#memory.remember(secrets)));
  }

  render<C extends Check>(check: C): RenderedWithSecrets<C> {
    const rendered = renderCheck(check, this.#lookup);
    return rendered.ok
      ? { ...rendered, own: this.#ownIn(check), parts: this.#partsIn(check) }
      : rendered;
  }

  #partsIn(check: Check): PartMask {
    const sent = valuesIn(check, this.#lookup).filter((value) => this.#memory.has(value));
    if (sent.length === 0) return NO_PARTS;
    let own: PartMask | null = null;
    // Building the index takes longer than a lookup, and hardly any text contains a part.
    const ownOf = (text: string): PartMask => {
      if (!this.#parts.holdsPart(text)) return NO_PARTS;
      own ??= createPartMask(sent.flatMap((value) => [value, ...otherFormsOf(value)]));
      return own;
    };
    return {
      text: (text) => ownOf(text).text(text),
      holdsPart: (text) => ownOf(text).holdsPart(text),
      charsLeftOut: 0,
    };
  }

  #ownIn(check: Check): OwnSecrets {
    const { agent } = this.#values;
    const { targets } = this.#options.operator;
    const own = namesFromOthers(check).flatMap((name) => {
      const value = agent.get(name);
      if (value === undefined) return [];
      return [
        {
          name,
          value,
          targets: targets.get(name) ?? null,
          isInBody: isInBody(check, name),
          isInHost: isInHost(check, name),
        },
      ];
    });
    return own.length === 0 ? NO_OWN_SECRETS : new OwnSecrets(own);
  }

  credentials(check: Check, sent: Check): AttemptSecrets {
    return attemptSecretsOf(check, sent, { known: this.#scrubber, lookup: this.#lookup });
  }

  async scrubberWith(secrets: AttemptSecrets): Promise<Scrubber> {
    if (secrets.values.length === 0) return this.#scrubber;
    // A few take some ten microseconds: not worth caching for the next attempt.
    const own = await this.#build(formsOf(secrets));
    return combineScrubbers(own, this.#scrubber);
  }

  missing(checks: readonly Check[]): readonly string[] {
    const missing = new Set<string>();
    for (const check of checks) {
      for (const name of namesFromOthers(check)) {
        if (this.#lookup(name) === undefined) missing.add(name);
      }
    }
    return [...missing].sort((a, b) => (a < b ? -1 : 1));
  }

  async watch(signal: AbortSignal): Promise<void> {
    while (await sleep(this.#options.clock, SCAN_MS, signal)) {
      const scanned = this.#folder?.look() ?? Promise.resolve();
      // The folder may be on a mount that does not answer.
      if (!(await isInTime(scanned, signal))) return;
      await this.#inTurn(() => this.#refresh()).catch((error: unknown) => this.#logFault(error));
    }
  }

  readonly #lookup = (name: string): string | undefined =>
    this.#values.agent.get(name) ?? this.#values.shared.get(name);

  /** What changed beside what was given. */
  async #refresh(): Promise<void> {
    const isSame =
      this.#filesRead === (this.#folder?.values ?? null) &&
      isSameList(this.#always, this.#alwaysNow()) &&
      !this.#memory.hasExpired;
    if (!isSame) await this.#putInForce({ ...this.#values, agent: this.#agentValues() });
  }

  /** The last values stay in force, and the next scan tries again: no caller waits for this one. */
  #logFault(error: unknown): void {
    const message = messageOf(error);
    if (message !== this.#loggedFault) {
      const what = 'values that changed cannot be taken, so the last ones stay in place';
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
    // First the scrubber, then the values: no result may contain a value that it does not mask.
    await this.#know(known);
    this.#values = values;
    this.#always = always;
    this.#filesRead = filesRead;
    this.#loggedFault = null;
  }

  /** null: what is known already. */
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
      `of the secrets only the first ${MAX_INDEXED_CHARS} characters, in all their forms, are masked also in parts`,
    );
  }

  /** A misspelt name would leave a secret without its restriction. */
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

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}

/** Those given to all checks come first, should there be too many. */
async function secretsOf({
  checks,
  variables,
  proxyUrl,
}: VaultInput): Promise<readonly NamedValue[]> {
  const ofProxy = credentialsOf(proxyUrl).map((value) => ({ name: 'proxyUrl', value }));
  const secrets: NamedValue[] = [...ofProxy, ...secretsAmong(variables)];
  for (const [index, check] of checks.entries()) {
    secrets.push(...secretsAmong(check.variables));
    // Compiles the templates here, where there is time, and not when the check is to be run.
    namesFromOthers(check);
    if (index % CHECKS_PER_YIELD === CHECKS_PER_YIELD - 1) await yieldToEventLoop();
  }
  return secrets;
}

function secretsAmong(variables: readonly OwnVariable[]): readonly NamedValue[] {
  return variables.flatMap(({ key, value, secret }) => (secret ? [{ name: key, value }] : []));
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}
