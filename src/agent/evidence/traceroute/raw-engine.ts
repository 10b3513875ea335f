import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Family } from '../../net/resolver.ts';
import { addressBytes } from '../../probes/icmp/address-bytes.ts';
import { loadNetPing, type NetPing } from '../../probes/icmp/net-ping.ts';
import type { Engine, EngineOptions, EngineRun, FoundEngine } from './observed.ts';
import { RawRun } from './raw-run.ts';

/** Raw ICMP sockets through net-ping, where the operating system opens them: CAP_NET_RAW. */
export async function findRawEngine(clock: Clock): Promise<FoundEngine> {
  const loaded = await loadNetPing();
  if (!loaded.ok) return loaded;
  const { netPing } = loaded;
  try {
    const networkProtocol = netPing.NetworkProtocol.IPv4;
    netPing.createSession({ networkProtocol, retries: 0 }).close();
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
  return { ok: true, engine: new RawEngine(netPing, clock) };
}

class RawEngine implements Engine {
  readonly method = 'raw sockets';
  readonly #netPing: NetPing;
  readonly #clock: Clock;

  constructor(netPing: NetPing, clock: Clock) {
    this.#netPing = netPing;
    this.#clock = clock;
  }

  async run(address: string, family: Family, options: EngineOptions): Promise<EngineRun> {
    const target = addressBytes(address);
    if (target === null) return { ok: false, note: `${address} is no IP address` };
    const way = { family, address, target };
    let run: RawRun;
    try {
      run = new RawRun(way, this.#netPing, this.#clock, options);
    } catch (error) {
      return { ok: false, note: `no raw ICMP socket could be opened: ${messageOf(error)}` };
    }
    return await run.finish();
  }
}
