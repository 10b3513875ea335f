import type { Failure } from '../../../model/result/error-codes.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Family } from '../../net/resolver.ts';
import { loadNetPing } from './net-ping.ts';
import { PingSocket } from './ping-socket.ts';
import type { EchoReceiver, PingTransport } from './ping-transport.ts';
import { RawSocket } from './raw-socket.ts';
import { loadLibc } from './socket-calls.ts';

export type OpenedTransport =
  | { readonly ok: true; readonly transport: PingTransport }
  | { readonly ok: false; readonly failure: Failure };

type Attempt = { readonly transport: PingTransport } | { readonly reason: string };

const SHORTAGES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);

const HOW_TO_ALLOW =
  'Allow it with sysctl -w net.ipv4.ping_group_range="0 2147483647" (in a container ' +
  '--sysctl net.ipv4.ping_group_range="0 2147483647"), which serves IPv6 too, or give the agent ' +
  'CAP_NET_RAW with the package net-ping installed.';

/**
 * Opens a socket for echo requests: the unprivileged one if the kernel permits it to the agent's
 * group, else a raw one. Fails with ICMP_NOT_PERMITTED, whose message says how to allow either;
 * with ICMP_UNREACHABLE if the machine lacks the address family; and with INTERNAL_ERROR if the
 * process has no descriptor left.
 */
export async function openTransport(
  family: Family,
  clock: Clock,
  receiver: EchoReceiver,
): Promise<OpenedTransport> {
  const unprivileged = await openPingSocket(family, clock, receiver);
  if ('transport' in unprivileged) return { ok: true, transport: unprivileged.transport };
  if (unprivileged.reason === 'EAFNOSUPPORT') {
    const message = `This machine has no IPv${family}.`;
    return { ok: false, failure: { code: 'ICMP_UNREACHABLE', message } };
  }
  if (SHORTAGES.has(unprivileged.reason)) {
    const message = `This machine has no ICMP socket to give: ${unprivileged.reason}; raise its limit (ulimit -n) or add an agent to the location.`;
    return { ok: false, failure: { code: 'INTERNAL_ERROR', message } };
  }
  const raw = await openRawSocket(family, clock, receiver);
  if ('transport' in raw) return { ok: true, transport: raw.transport };
  const message =
    `The agent may not open an ICMP socket: the unprivileged one (${unprivileged.reason}), ` +
    `nor a raw one (${raw.reason}). ${HOW_TO_ALLOW}`;
  return { ok: false, failure: { code: 'ICMP_NOT_PERMITTED', message } };
}

async function openPingSocket(
  family: Family,
  clock: Clock,
  receiver: EchoReceiver,
): Promise<Attempt> {
  const loaded = await loadLibc();
  if (!loaded.ok) return { reason: loaded.reason };
  const opened = PingSocket.open(family, loaded.libc, clock, receiver);
  return opened.ok ? { transport: opened.socket } : opened;
}

async function openRawSocket(
  family: Family,
  clock: Clock,
  receiver: EchoReceiver,
): Promise<Attempt> {
  const loaded = await loadNetPing();
  if (!loaded.ok) return { reason: loaded.reason };
  try {
    return { transport: new RawSocket(family, loaded.netPing, clock, receiver) };
  } catch (error) {
    return { reason: messageOf(error) };
  }
}
