import type { Socket } from 'node:net';
import { systemCodeOf } from '../../errors.ts';
import { VERSION } from '../../version.ts';
import { endedByReset } from '../ended-by-reset.ts';
import { endpointText } from '../endpoint-text.ts';
import { MAX_HEAD_BYTES, readConnectResponse } from './connect-response.ts';

export interface TunnelRequest {
  /** A name, or an address without brackets. */
  readonly hostname: string;
  readonly port: number;
  readonly authorization: string | null;
}

export type TunnelRefusal =
  /** The proxy's own answer: a status that is not 2xx. */
  | {
      readonly ok: false;
      readonly ended: 'answered';
      readonly status: number;
      /** Unmodified: it may contain the proxy's credentials. */
      readonly reason: string;
    }
  /** No valid answer; `what` is the end of a sentence about the proxy. */
  | { readonly ok: false; readonly ended: 'broken'; readonly what: string };

/**
 * Requests a tunnel from a proxy over its connection (CONNECT, RFC 9110 9.3.6) and settles with its
 * answer. After that, the socket behaves like one to the target; bytes after the answer can still
 * be read from it.
 *
 * @returns a function to call at the end of the wait: it closes the connection unless the tunnel is open
 */
export function requestTunnel(
  socket: Socket,
  request: TunnelRequest,
  settle: (answer: { readonly ok: true } | TunnelRefusal) => void,
): () => void {
  let isOpen = false;
  let bytes = Buffer.alloc(0);
  const fail = (what: string): void => settle({ ok: false, ended: 'broken', what });
  const onReadable = (): void => {
    for (;;) {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      bytes = Buffer.concat([bytes, chunk]);
      const answer = readConnectResponse(bytes);
      if (answer.kind === 'incomplete') continue;
      if (answer.kind === 'foreign') fail(answer.isTls ? SPEAKS_TLS : NO_HTTP);
      else if (answer.kind === 'too-long') fail(TOO_LONG);
      else if (answer.status >= 200 && answer.status < 300) {
        isOpen = true;
        if (answer.rest.length > 0) socket.unshift(answer.rest);
        settle({ ok: true });
      } else {
        const { status, reason } = answer;
        settle({ ok: false, ended: 'answered', status, reason });
      }
      return;
    }
  };
  const onEnd = (): void => fail(endedByReset(socket) ? RESET : CLOSED);
  const onClose = (): void => fail(CLOSED);
  const onError = (error: Error): void => {
    const code = systemCodeOf(error) ?? 'no code';
    fail(code === 'ECONNRESET' ? RESET : `the connection to it broke (${code})`);
  };
  socket.on('readable', onReadable);
  socket.once('end', onEnd);
  socket.once('close', onClose);
  socket.once('error', onError);
  // The next user of the socket may not have set its error listener yet.
  socket.on('error', () => {});
  if (socket.destroyed) onClose();
  else socket.write(requestText(request));
  return () => {
    socket.off('readable', onReadable);
    socket.off('end', onEnd);
    socket.off('close', onClose);
    socket.off('error', onError);
    if (!isOpen) socket.destroy();
  };
}

const CLOSED = 'it closed the connection without an answer';
const RESET = 'it reset the connection without an answer';
const SPEAKS_TLS = 'it speaks TLS: its URL may have to begin with https://';
const NO_HTTP = 'the server there is not an HTTP proxy';
const TOO_LONG = `the head of its answer is longer than ${MAX_HEAD_BYTES / 1024} KiB`;

function requestText({ hostname, port, authorization }: TunnelRequest): string {
  const authority = endpointText(hostname, port);
  const lines = [
    `CONNECT ${authority} HTTP/1.1`,
    `Host: ${authority}`,
    `User-Agent: vedette/${VERSION}`,
    ...(authorization === null ? [] : [`Proxy-Authorization: ${authorization}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
