import { endpointText, withoutBrackets } from '../../runtime/net/endpoint-text.ts';
import { createScrubber, isMaskable, type Scrubber } from '../../scrub/scrubber.ts';
import { createPartMask, type PartMask } from '../../scrub/secret-parts.ts';
import { isAllowed, type Receiver, type VariableTarget } from '../config/variable-targets.ts';
import { secretForms } from './normal-forms.ts';

/** One variable of the agent itself in a request. */
export interface OperatorSecret {
  readonly name: string;
  readonly value: string;
  /** The targets that may receive it (VARIABLE_TARGETS); null: all. */
  readonly targets: readonly VariableTarget[] | null;
  /** The body contains it. */
  readonly isInBody: boolean;
  /** It may be a part of the host name in the url. */
  readonly isInHost: boolean;
  /** The request for an access token contains it. */
  readonly isInTokenRequest: boolean;
}

/** The parts of a request that may carry values to the target of a redirect. */
export interface SentParts {
  readonly url: URL;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: unknown;
}

/** The variables of the agent itself (VARIABLES_FROM_ENV, VARIABLES_DIR) in one request. */
export class OperatorSecrets {
  readonly #secrets: readonly OperatorSecret[];
  readonly #hosts: readonly string[];
  readonly #searches = new Map<OperatorSecret, readonly [Scrubber, PartMask]>();

  /** @param hosts the hosts of a request that scripts have made, which may put values there */
  constructor(secrets: readonly OperatorSecret[], hosts: readonly string[] = []) {
    this.#secrets = secrets;
    this.#hosts = hosts;
  }

  /** The names of the variables. */
  get names(): readonly string[] {
    return this.#secrets.map(({ name }) => name);
  }

  /**
   * The variable of which the host name of the request may contain a part; null if there is none.
   * Compares no bound value with the host: the check may name a host to test a guess.
   */
  get nameInHost(): string | null {
    const found = this.#secrets.find(
      (secret) =>
        secret.isInHost ||
        (secret.targets === null && this.#hosts.some((host) => this.#isIn(secret, host))),
    );
    return found?.name ?? null;
  }

  /** Whether the host name of the request may contain a part of a value. */
  get isInHost(): boolean {
    return this.nameInHost !== null;
  }

  /** Why the request must not be sent, as a sentence; null if it may be sent. */
  whyNotTo(receivers: readonly Receiver[]): string | null {
    const refused = this.#refused(this.#secrets, receivers);
    if (refused === null) return null;
    const [{ name }, { hostname, port }] = refused;
    // Does not compare the host with the value: the check may name a host to test a guess.
    const receiver = this.isInHost
      ? `port ${port} of a host whose name contains a variable`
      : endpointText(withoutBrackets(hostname), port);
    return `The variable ${name} may not be sent to ${receiver}: VARIABLE_TARGETS of the agent allows other targets only`;
  }

  /** Like `whyNotTo`, for a redirected request, by the values that it still contains. */
  whyNotOn(sent: SentParts, receivers: readonly Receiver[]): string | null {
    const bound = this.#secrets.filter(({ targets }) => targets !== null);
    const carried = bound.filter((secret) => this.#isCarried(secret, sent));
    const refused = this.#refused(carried, receivers);
    if (refused === null) return null;
    const [{ name }, receiver] = refused;
    return `the redirect to ${this.#textOf(receiver)} is not followed: it would carry the variable ${name}, which VARIABLE_TARGETS of the agent allows for other targets only`;
  }

  /**
   * The variable whose value, or a part of it, a text contains in any form; null if there is none.
   */
  nameIn(text: string): string | null {
    return this.#secrets.find((secret) => this.#isIn(secret, text))?.name ?? null;
  }

  #refused(
    secrets: readonly OperatorSecret[],
    receivers: readonly Receiver[],
  ): readonly [OperatorSecret, Receiver] | null {
    for (const secret of secrets) {
      const { targets, isInTokenRequest } = secret;
      if (targets === null) continue;
      const receiver = receivers.find(
        (each) => (each.isForToken !== true || isInTokenRequest) && !isAllowed(targets, each),
      );
      if (receiver !== undefined) return [secret, receiver];
    }
    return null;
  }

  /** A host name in a redirect may contain the value itself. */
  #textOf({ hostname, port }: Receiver): string {
    return this.nameIn(hostname) === null
      ? endpointText(withoutBrackets(hostname), port)
      : `port ${port} of a host whose name contains its value`;
  }

  #isCarried(secret: OperatorSecret, { url, headers, body }: SentParts): boolean {
    if (body !== null && secret.isInBody) return true;
    return this.#isIn(secret, url.href) || headers.some(([, value]) => this.#isIn(secret, value));
  }

  #isIn(secret: OperatorSecret, text: string): boolean {
    const { value } = secret;
    if (value === '') return false;
    if (text.includes(value)) return true;
    // The value is too common to search for it in other forms.
    if (!isMaskable(value)) return text.includes(encodeURIComponent(value.toWellFormed()));
    const [scrubber, parts] = this.#searchOf(secret);
    return scrubber.holdsKnown(text) || parts.holdsPart(text);
  }

  #searchOf(secret: OperatorSecret): readonly [Scrubber, PartMask] {
    const known = this.#searches.get(secret);
    if (known !== undefined) return known;
    const forms = secretForms(secret.value);
    const search = [createScrubber(forms), createPartMask(forms)] as const;
    this.#searches.set(secret, search);
    return search;
  }
}

export const NO_OPERATOR_SECRETS = new OperatorSecrets([]);
