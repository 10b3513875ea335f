import type { Failure } from '../../../model/result/error-codes.ts';
import { type Addresses, chooseAddresses } from '../../net/choose-addresses.ts';
import { type Exchanged, exchange } from '../../net/dns/exchange.ts';
import type { Question } from '../../net/dns/message/query.ts';
import type { Family } from '../../net/resolver.ts';
import { endpointText } from '../../net/text.ts';
import type { ProbeContext } from '../probe.ts';

export type ServerAddresses =
  | { readonly ok: true; readonly addresses: Addresses }
  | { readonly ok: false; readonly failure: Failure };

/**
 * The addresses of the name server that a request names, as far as TARGET_DENY lets them through:
 * its IPv4 addresses, or the IPv6 ones where it has no other.
 */
export async function addressesOfServer(
  host: string,
  context: ProbeContext,
): Promise<ServerAddresses> {
  const { clock, resolver, log } = context;
  const startMs = clock.monotonicMs();
  const families: readonly Family[] = [4, 6];
  let failure: Failure = { code: 'DNS_NO_ADDRESS', message: `${host} has no address` };
  for (const family of families) {
    const resolution = await resolver.resolve(host, family, context);
    if (resolution.ok) {
      const [first] = resolution.addresses;
      if (first !== host) {
        const durationMs = clock.monotonicMs() - startMs;
        log.info(`The name server ${host} is ${first} (looked up in ${durationMs.toFixed(3)} ms)`);
      }
      return chooseAddresses(`The name server ${host}`, resolution.addresses, context);
    }
    failure = family === 4 ? resolution.failure : failure;
    if (resolution.failure.code !== 'DNS_NO_ADDRESS') break;
  }
  const message = `The name server ${host} has no known address: ${failure.message}`;
  return { ok: false, failure: { ...failure, message } };
}

/** Asks at the first of the server's addresses; at the next only where one cannot be reached. */
export async function askServer(
  question: Question,
  addresses: Addresses,
  port: number,
  how: Parameters<typeof exchange>[2],
): Promise<Exchanged> {
  const [first, ...others] = addresses;
  let exchanged = await exchange(question, { address: first, port }, how);
  for (const address of others) {
    if (exchanged.kind === 'answer' || exchanged.failure.code !== 'DNS_UNREACHABLE') break;
    how.log.info(`Asking at the name server's next address, ${endpointText(address, port)}`);
    exchanged = await exchange(question, { address, port }, how);
  }
  return exchanged;
}
