import type { TcpFacts } from '../../model/result/details/check-detail.ts';
import type { SocketState } from '../net/kernel/kernel-sockets.ts';

/** null if there was no connection, or the kernel's state is not available. */
export function tcpFactsOf(state: SocketState | null, peer: TcpFacts['peer']): TcpFacts | null {
  if (state === null) return null;
  const { rttMs, minRttMs, retransmits, mss } = state;
  return { peer, rttMs, minRttMs, retransmits, mss };
}
