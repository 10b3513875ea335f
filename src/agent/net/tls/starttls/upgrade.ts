import type { Socket } from 'node:net';
import type { StartTlsProtocol } from '../../../../model/check/request/tcp.ts';
import type { Failure } from '../../../../model/result/error-codes.ts';
import { systemCodeOf } from '../../../../runtime/errors.ts';
import { endedByReset } from '../../../../runtime/net/ended-by-reset.ts';
import { countText } from '../../../../runtime/text/count-text.ts';
import { millisecondsText } from '../../../../runtime/text/duration-text.ts';
import { type Scrub, shortenedText } from '../../../secrets/cut-scrubbed.ts';
import { peerActivity } from '../../kernel/peer-activity.ts';
import { type Limits, limitedWait } from '../../limited-wait.ts';
import { ldap, mysql, postgresql } from './binary-dialogues.ts';
import type { Dialogue, DialogueOptions } from './dialogue.ts';
import { ftp, imap, pop3, smtp, xmpp } from './line-dialogues.ts';

const DIALOGUES: Readonly<Record<StartTlsProtocol, (options: DialogueOptions) => Dialogue>> = {
  SMTP: ({ localAddress }) => smtp(localAddress),
  IMAP: imap,
  POP3: pop3,
  FTP: ftp,
  XMPP: ({ serverName }) => xmpp(serverName),
  POSTGRESQL: postgresql,
  MYSQL: mysql,
  LDAP: ldap,
};

/** Maximum bytes from a server before TLS: greetings and lists of capabilities are shorter. */
const MAX_BYTES = 16 * 1024;
/** Maximum number of characters of an answer that a message quotes. */
const MAX_ANSWER_CHARS = 200;

export interface UpgradeOptions {
  readonly protocol: StartTlsProtocol;
  /** The name of the server, without brackets. */
  readonly serverName: string;
  /** How messages name the server. */
  readonly target: string;
  /** Masks secrets in answers of the server before messages cut them. */
  readonly scrub: Scrub;
}

type UpgradeEnd =
  | { readonly kind: 'agreed' }
  | { readonly kind: 'time-up' | 'cancelled' }
  /** `what` continues a sentence that starts with the target. */
  | { readonly kind: 'closed' | 'refused'; readonly what: string };

/**
 * Speaks the opening of the protocol until the server agrees to TLS on this connection. Refuses
 * plain text after the agreement: TLS would seem to protect data that somebody on the way injected
 * (CVE-2011-0411). Closes the connection on a failure.
 *
 * @returns null if the handshake can begin
 */
export async function upgradeToTls(
  socket: Socket,
  options: UpgradeOptions,
  limits: Limits,
): Promise<Failure | null> {
  const { protocol, target } = options;
  const startMs = limits.clock.monotonicMs();
  const end = await converse(socket, options, limits);
  if (end.kind !== 'agreed') socket.destroy();
  switch (end.kind) {
    case 'agreed':
      return null;
    case 'cancelled': {
      const message = `The upgrade to TLS with ${target} was cancelled because the agent stops`;
      return { code: 'CANCELLED', message };
    }
    case 'time-up': {
      const tookMs = limits.clock.monotonicMs() - startMs;
      const message = `${target} did not agree to TLS within ${millisecondsText(tookMs)} (${protocol})`;
      return { code: 'TLS_TIMEOUT', message };
    }
    case 'closed':
      return { code: 'TLS_RESET', message: `${target} ${end.what} (${protocol})` };
    case 'refused':
      return { code: 'STARTTLS_FAILED', message: `${target} ${end.what} (${protocol})` };
  }
}

function converse(
  socket: Socket,
  { protocol, serverName, scrub }: UpgradeOptions,
  limits: Limits,
): Promise<UpgradeEnd> {
  const ends = {
    timedOut: (): UpgradeEnd => ({ kind: 'time-up' }),
    cancelled: (): UpgradeEnd => ({ kind: 'cancelled' }),
    activity: () => peerActivity(limits.starvation?.sockets ?? null, socket),
  };
  return limitedWait<UpgradeEnd>(limits, ends, (settle) => {
    const dialogue = DIALOGUES[protocol]({ serverName, localAddress: socket.localAddress ?? '' });
    let bytes: Buffer = Buffer.alloc(0);
    let totalBytes = 0;
    const refuse = (what: string): void => settle({ kind: 'refused', what });
    const withAnswer = (what: string, answer: string | null): string =>
      answer === null
        ? what
        : `${what}: ${JSON.stringify(shortenedText(answer, MAX_ANSWER_CHARS, scrub))}`;

    /** Whether the dialogue continues. */
    const take = (): boolean => {
      const reading = dialogue.read(bytes);
      switch (reading.kind) {
        case 'incomplete':
          if (totalBytes >= MAX_BYTES) refuse(TOO_LONG);
          return false;
        case 'refused':
          refuse(withAnswer(reading.what, reading.answer));
          return false;
        case 'next':
          bytes = bytes.subarray(reading.used);
          if (reading.send !== null) socket.write(reading.send);
          return bytes.length > 0;
        case 'agreed': {
          const more = bytes.length - reading.used;
          if (more > 0) {
            refuse(`sent ${countText(more, 'byte')} in plain text after it had agreed to TLS`);
            return false;
          }
          if (reading.send !== null) socket.write(reading.send);
          settle({ kind: 'agreed' });
          return false;
        }
      }
    };
    const onReadable = (): void => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      totalBytes += chunk.length;
      bytes = Buffer.concat([bytes, chunk]);
      for (;;) if (!take()) return;
    };
    const fail = (what: string): void => settle({ kind: 'closed', what });
    const onEnd = (): void => fail(endedByReset(socket) ? RESET : CLOSED);
    const onClose = (): void => fail(CLOSED);
    const onError = (error: Error): void => {
      const code = systemCodeOf(error) ?? 'no code';
      fail(code === 'ECONNRESET' ? RESET : `${LOST} (${code})`);
    };
    socket.on('readable', onReadable);
    socket.once('end', onEnd);
    socket.once('close', onClose);
    socket.once('error', onError);
    // The next user of the socket may not have set its error listener yet.
    socket.on('error', () => {});
    if (socket.destroyed) onClose();
    else if (dialogue.opening !== null) socket.write(dialogue.opening);
    return () => {
      socket.off('readable', onReadable);
      socket.off('end', onEnd);
      socket.off('close', onClose);
      socket.off('error', onError);
    };
  });
}

const TOO_LONG = `sent more than ${MAX_BYTES / 1024} KiB without agreeing to TLS`;
const CLOSED = 'closed the connection before it agreed to TLS';
const RESET = 'reset the connection before it agreed to TLS';
const LOST = 'could no longer be reached before it agreed to TLS';
