/** The client's side of a protocol's opening, until TLS begins on the same connection. */
export interface Dialogue {
  /** Sent at once; null if the server speaks first. */
  readonly opening: Buffer | null;
  /** Reads the bytes that have arrived and that no earlier answer has used. */
  readonly read: (bytes: Buffer) => Reading;
}

/**
 * `used`: the bytes of the answer. `what` continues a sentence that starts with the server's name;
 * `answer` is what the server said, which is quoted behind it.
 */
export type Reading =
  /** The answer is not complete. */
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'next'; readonly used: number; readonly send: Buffer | null }
  /** The handshake begins, after `send`. */
  | { readonly kind: 'agreed'; readonly used: number; readonly send: Buffer | null }
  | { readonly kind: 'refused'; readonly what: string; readonly answer: string | null };

/** The input of a dialogue. */
export interface DialogueOptions {
  /** The server's name, for XMPP. */
  readonly serverName: string;
  /** The agent's address on this connection, for the EHLO of SMTP. */
  readonly localAddress: string;
}

export const INCOMPLETE: Reading = { kind: 'incomplete' };

export function refusedBecause(what: string, answer: string | null = null): Reading {
  return { kind: 'refused', what, answer };
}

type Reader = (bytes: Buffer) => Reading;

/** Reads one answer after the other, each with its reader. */
export function inSequence(opening: Buffer | null, ...readers: readonly Reader[]): Dialogue {
  let position = 0;
  return {
    opening,
    read(bytes) {
      const reading = readers[position]?.(bytes) ?? INCOMPLETE;
      if (reading.kind === 'next') position += 1;
      return reading;
    },
  };
}
