import type { Receiver } from '../config/variable-targets.ts';
import type { OperatorSecrets } from '../secrets/operator-secrets.ts';
import type { Probed } from './check-types/check-type.ts';

/** The facts of a request that are known before it is sent. */
interface RequestToSend {
  /** The HTTP method; null for other checks. */
  readonly method: string | null;
  /** The agent's own variables in it. */
  readonly operatorSecrets: OperatorSecrets;
  readonly receivers: readonly Receiver[];
}

interface SentRequest extends RequestToSend {
  /** null while it is probed, and after a fault of the agent. */
  probed: Probed | null;
}

/** The requests of one attempt: that of its check, and those that scripts make by `fetch`. */
export class SentRequests {
  readonly #requests: SentRequest[] = [];

  /** Remembers the request and its outcome. Rejects if the probe does. */
  async send(request: RequestToSend, probe: () => Promise<Probed>): Promise<Probed> {
    const sent: SentRequest = { ...request, probed: null };
    this.#requests.push(sent);
    sent.probed = await probe();
    return sent.probed;
  }

  /** The methods of the HTTP requests that were sent: their targets may have acted on them. */
  get sentMethods(): readonly string[] {
    return this.#requests.flatMap(({ method, probed }) => {
      const isSent = probed === null || probed.requestSent;
      return method !== null && isSent ? [method] : [];
    });
  }

  /** A variable of the agent itself that others on the way can read; null if there is none. */
  exposedVariable(): string | null {
    for (const request of this.#requests) {
      const name = exposedIn(request);
      if (name !== null) return name;
    }
    return null;
  }
}

/** DNS lookups and TLS handshakes send host names in clear text. */
function exposedIn({ operatorSecrets, probed, receivers }: SentRequest): string | null {
  const [first = null] = operatorSecrets.names;
  if (first === null || probed === null || probed.unencrypted) return first;
  const { nameInHost } = operatorSecrets;
  if (nameInHost !== null) return nameInHost;
  // A host of the check may be a guess at the value; a host of a redirect comes from the target.
  const host = probed.endpoint?.hostname ?? '';
  return receivers.some(({ hostname }) => hostname === host) ? null : operatorSecrets.nameIn(host);
}
