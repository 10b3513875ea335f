import { messageOf } from '../../../runtime/errors.ts';

/** As much of the package net-ping as is used; it brings no types of its own. */
export interface NetPing {
  readonly NetworkProtocol: Readonly<Record<'IPv4' | 'IPv6', number>>;
  /** Throws where the operating system does not allow a raw socket. */
  createSession(options: { networkProtocol: number; retries: number }): NetPingSession;
}

export interface NetPingSession {
  on(event: 'error', listener: (error: unknown) => void): void;
  on(event: 'close', listener: () => void): void;
  getSocket(): NetPingSocket;
  close(): void;
}

export interface NetPingSocket {
  on(event: 'message', listener: (packet: Buffer, source: string) => void): void;
  setOption(level: number, option: number, value: number): void;
  setOption(level: number, option: number, value: Buffer, bytes: number): void;
  /** `beforeSend` runs right before the packet is handed to the kernel. */
  send(
    packet: Buffer,
    offset: number,
    length: number,
    address: string,
    beforeSend: () => void,
    done: (error: Error | null) => void,
  ): void;
}

export type LoadedNetPing =
  | { readonly ok: true; readonly netPing: NetPing }
  | { readonly ok: false; readonly reason: string };

/** An optional dependency: its addon may be missing, or built for another version of Node. */
export async function loadNetPing(): Promise<LoadedNetPing> {
  const packageName: string = 'net-ping';
  try {
    const loaded = (await import(packageName)) as { default: NetPing };
    return { ok: true, netPing: loaded.default };
  } catch (error) {
    const [firstLine] = messageOf(error).split('\n', 1);
    return { ok: false, reason: `the package net-ping cannot be loaded: ${firstLine}` };
  }
}
