import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { SystemResolver } from '../net/dns/system-resolver.ts';
import { openCapturer } from './capture/capturer.ts';
import { EvidenceRoom } from './evidence.ts';
import { endOrphans } from './orphans.ts';
import { openTracer } from './traceroute/open-tracer.ts';

export interface OpenEvidenceOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly resolver: SystemResolver;
  readonly onPass: (outcome: 'made' | 'busy') => void;
}

export interface OpenedEvidence {
  readonly room: EvidenceRoom;
  close(): void;
}

/**
 * Looks for what traces and captures need, says once what is missing and how to grant it, and ends
 * the processes that an agent before this one, killed in the middle, has left.
 */
export async function openEvidence(options: OpenEvidenceOptions): Promise<OpenedEvidence> {
  const { clock, log, resolver, onPass } = options;
  const [tracer, capturer, ended] = await Promise.all([
    openTracer({ clock, log, resolver }),
    openCapturer({ clock, log }),
    endOrphans({ log }),
  ]);
  if (ended > 0) log.warn({ processes: ended }, 'ended what a killed agent had left running');
  if (tracer.lack !== null) log.warn(`failures come without a trace: ${tracer.lack}`);
  else log.info({ method: tracer.method }, 'failures of the network are traced');
  if (capturer.lack === null) log.info('failures of the network are captured');
  else log.warn(`failures come without a packet capture: ${capturer.lack}`);
  const nameServers = () => resolver.nameServers();
  return {
    room: new EvidenceRoom({ clock, tracer, capturer, nameServers, onPass }),
    close: () => tracer.close(),
  };
}
