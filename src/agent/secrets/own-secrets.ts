import { createScrubber, isMaskable, type Scrubber } from '../../scrub/scrubber.ts';
import { createPartMask, type PartMask } from '../../scrub/secret-parts.ts';
import { isAllowed, type Receiver, type VariableTarget } from '../config/variable-targets.ts';
import { endpointText, withoutBrackets } from '../net/text.ts';
import { otherFormsOf } from './secret-forms.ts';

/** One variable of the agent's own that a request is filled in with. */
export interface OwnSecret {
  readonly name: string;
  readonly value: string;
  /** Where it may be sent (VARIABLE_TARGETS); null: anywhere. */
  readonly targets: readonly VariableTarget[] | null;
  /** It is in the body, so that every receiver of the body gets it. */
  readonly isInBody: boolean;
  /** It stands in the url where the host may be: the name of the host may have a part of it. */
  readonly isInHost: boolean;
}

/** What of a request may carry values on to where a redirect leads. */
export interface Sent {
  readonly url: URL;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: unknown;
}

/** The values that only the agent has (VARIABLES_FROM_ENV, VARIABLES_DIR) in one request. */
export class OwnSecrets {
  readonly #secrets: readonly OwnSecret[];
  readonly #searches = new Map<OwnSecret, readonly [Scrubber, PartMask]>();

  constructor(secrets: readonly OwnSecret[]) {
    this.#secrets = secrets;
  }

  /** The names of the variables. */
  get names(): readonly string[] {
    return this.#secrets.map(({ name }) => name);
  }

  /** Whether the name of the request's host may have a part of a value. */
  get isInHost(): boolean {
    return this.#secrets.some((secret) => secret.isInHost);
  }

  /** A sentence with the reason why the request must not be sent; null where it may. */
  whyNotTo(receivers: readonly Receiver[]): string | null {
    const refused = this.#refused(this.#secrets, receivers);
    if (refused === null) return null;
    const [{ name }, { hostname, port }] = refused;
    // Not by comparing: the check may name a host that is a guess.
    const receiver = this.isInHost
      ? `port ${port} of a host whose name a variable makes`
      : endpointText(withoutBrackets(hostname), port);
    return `The variable ${name} may not be sent to ${receiver}: VARIABLE_TARGETS of the agent allows other targets only`;
  }

  /** The same for the request that a redirect asks for, by the values that are still in it. */
  whyNotOn(sent: Sent, receivers: readonly Receiver[]): string | null {
    const bound = this.#secrets.filter(({ targets }) => targets !== null);
    const carried = bound.filter((secret) => this.#isCarried(secret, sent));
    const refused = this.#refused(carried, receivers);
    if (refused === null) return null;
    const [{ name }, receiver] = refused;
    return `the redirect to ${this.#textOf(receiver)} is not followed: it would carry the variable ${name}, which VARIABLE_TARGETS of the agent allows for other targets only`;
  }

  /** The variable whose value, or a part of it, a text contains in any form; null for none. */
  nameIn(text: string): string | null {
    return this.#secrets.find((secret) => this.#isIn(secret, text))?.name ?? null;
  }

  #refused(
    secrets: readonly OwnSecret[],
    receivers: readonly Receiver[],
  ): readonly [OwnSecret, Receiver] | null {
    for (const secret of secrets) {
      const { targets } = secret;
      if (targets === null) continue;
      const receiver = receivers.find((each) => !isAllowed(targets, each));
      if (receiver !== undefined) return [secret, receiver];
    }
    return null;
  }

  /** A host name that the target chose may contain the value itself. */
  #textOf({ hostname, port }: Receiver): string {
    return this.nameIn(hostname) === null
      ? endpointText(withoutBrackets(hostname), port)
      : `port ${port} of a host whose name holds its value`;
  }

  #isCarried(secret: OwnSecret, { url, headers, body }: Sent): boolean {
    if (body !== null && secret.isInBody) return true;
    return this.#isIn(secret, url.href) || headers.some(([, value]) => this.#isIn(secret, value));
  }

  #isIn(secret: OwnSecret, text: string): boolean {
    const { value } = secret;
    if (value === '') return false;
    if (text.includes(value)) return true;
    // Too common to be searched for in other forms.
    if (!isMaskable(value)) return text.includes(encodeURIComponent(value.toWellFormed()));
    const [scrubber, parts] = this.#searchOf(secret);
    return scrubber.holdsKnown(text) || parts.holdsPart(text);
  }

  #searchOf(secret: OwnSecret): readonly [Scrubber, PartMask] {
    const known = this.#searches.get(secret);
    if (known !== undefined) return known;
    const forms = [secret.value, ...otherFormsOf(secret.value)];
    const search = [createScrubber(forms), createPartMask(forms)] as const;
    this.#searches.set(secret, search);
    return search;
  }
}

export const NO_OWN_SECRETS = new OwnSecrets([]);
