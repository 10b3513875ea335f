import type { Failure } from '../../../model/result/error-codes.ts';
import { endpointText } from '../../../runtime/net/endpoint-text.ts';
import {
  type DnsExchangeOptions,
  type Exchanged,
  exchange,
} from '../../net/dns/exchange-with-fallback.ts';
import type { Question } from '../../net/dns/message/query.ts';
import { type Addresses, type Choice, chooseAddresses } from '../../net/permitted-addresses.ts';
import type { Family } from '../../net/resolver.ts';
import type { ProbeContext } from '../probe.ts';

/** The server's IPv4 addresses, or its IPv6 addresses if it has none, that TARGET_DENY permits. */
export async function addressesOfServer(host: string, context: ProbeContext): Promise<Choice> {
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

/** Queries the server's first address, and the next one only if an address cannot be reached. */
export async function askServer(
  question: Question,
  addresses: Addresses,
  port: number,
  options: DnsExchangeOptions,
): Promise<Exchanged> {
  const [first, ...others] = addresses;
  let exchanged = await exchange(question, { address: first, port }, options);
  for (const address of others) {
    if (exchanged.kind === 'answer' || exchanged.failure.code !== 'DNS_UNREACHABLE') break;
    options.log.info(`Asking at the name server's next address, ${endpointText(address, port)}`);
    exchanged = await exchange(question, { address, port }, options);
  }
  return exchanged;
}
