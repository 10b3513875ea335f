import { isIPv6 } from 'node:net';
import { type Dialogue, INCOMPLETE, inSequence, type Reading, refusedBecause } from './dialogue.ts';

/** The protocols that answer in lines of text. */

interface Reply {
  /** Three digits. */
  readonly code: string;
  readonly lines: readonly string[];
  readonly used: number;
}

/**
 * A reply of SMTP (RFC 5321 4.2.1) or FTP (RFC 959 4.2): `250-…` begins one of several lines, which
 * ends with the line `250 …`.
 */
function replyIn(bytes: Buffer): Reply | 'incomplete' | 'foreign' {
  const lines: string[] = [];
  let used = 0;
  for (;;) {
    const end = bytes.indexOf(10, used);
    if (end === -1) {
      const begun = bytes.toString('latin1', 0, 4);
      return used > 0 || /^\d{0,3}$|^\d{3}[ -]$/.test(begun) ? 'incomplete' : 'foreign';
    }
    lines.push(bytes.toString('latin1', used, end).replace(/\r$/, ''));
    used = end + 1;
    const [first = ''] = lines;
    const last = lines.at(-1) ?? '';
    if (!/^\d{3}(?:[ -]|$)/.test(first)) return 'foreign';
    const code = first.slice(0, 3);
    if (last === code || last.startsWith(`${code} `)) return { code, lines, used };
  }
}

type OnReply = (reply: Reply) => Reading;

/** Reads a reply with the wanted code; `does` begins the sentence about any other. */
function reply(wanted: string, does: string, onReply: OnReply): (bytes: Buffer) => Reading {
  return (bytes) => {
    const found = replyIn(bytes);
    if (found === 'incomplete') return INCOMPLETE;
    if (found === 'foreign') return foreign(bytes);
    if (found.code !== wanted) return refusedBecause(does, found.lines.join(' '));
    return onReply(found);
  };
}

function foreign(bytes: Buffer): Reading {
  return refusedBecause('speaks another protocol', lineIn(bytes));
}

/** The first line, or the part of it that has arrived. */
function lineIn(bytes: Buffer): string {
  return bytes.toString('latin1', 0, 300).split(/\r?\n/, 1)[0] ?? '';
}

const next = (used: number, send: string | null): Reading => {
  return { kind: 'next', used, send: send === null ? null : Buffer.from(send) };
};
const agreed = (used: number): Reading => ({ kind: 'agreed', used, send: null });

/** RFC 3207 4. */
export function smtp(localAddress: string): Dialogue {
  // RFC 5321 4.1.3: the address of a client without a name of its own.
  const address = isIPv6(localAddress) ? `IPv6:${localAddress}` : localAddress;
  return inSequence(
    null,
    reply('220', 'did not greet', ({ used }) => next(used, `EHLO [${address}]\r\n`)),
    reply('250', 'refused EHLO', ({ used, lines }) =>
      lines.some((line) => /^250[ -]STARTTLS\s*$/i.test(line))
        ? next(used, 'STARTTLS\r\n')
        : refusedBecause('does not offer STARTTLS'),
    ),
    reply('220', 'refused STARTTLS', ({ used }) => agreed(used)),
  );
}

/** RFC 4217 4. */
export function ftp(): Dialogue {
  const greeting = reply('220', 'did not greet', ({ used }) => next(used, 'AUTH TLS\r\n'));
  return inSequence(
    null,
    (bytes) => {
      // RFC 959 5.4: "120 Service ready in nnn minutes" comes before the greeting.
      const first = replyIn(bytes);
      if (typeof first === 'string' || first.code !== '120') return greeting(bytes);
      const then = greeting(bytes.subarray(first.used));
      return then.kind === 'next' ? { ...then, used: then.used + first.used } : then;
    },
    reply('234', 'refused AUTH TLS', ({ used }) => agreed(used)),
  );
}

/** RFC 2595 4. */
export function pop3(): Dialogue {
  const line =
    (does: string, onOk: (used: number) => Reading) =>
    (bytes: Buffer): Reading => {
      const text = lineIn(bytes);
      const end = bytes.indexOf(10);
      if (!/^\+OK\b/.test(text)) {
        if (end === -1 && /^(?:\+O?|-E?R?R?)?$/.test(text)) return INCOMPLETE;
        const isPop3 = text.startsWith('-ERR');
        return isPop3 ? refusedBecause(does, text) : foreign(bytes);
      }
      return end === -1 ? INCOMPLETE : onOk(end + 1);
    };
  return inSequence(
    null,
    line('did not greet', (used) => next(used, 'STLS\r\n')),
    line('refused STLS', agreed),
  );
}

const IMAP_TAG = 'a1';

/** RFC 9051 6.2.1. */
export function imap(): Dialogue {
  const greeting = (bytes: Buffer): Reading => {
    const text = lineIn(bytes);
    const end = bytes.indexOf(10);
    if (end === -1) {
      const isBegun = '* '.startsWith(text) || text.startsWith('* ');
      return isBegun ? INCOMPLETE : foreign(bytes);
    }
    if (/^\* OK\b/i.test(text)) return next(end + 1, `${IMAP_TAG} STARTTLS\r\n`);
    // An authenticated connection cannot begin TLS.
    const isImap = /^\* (?:BYE|PREAUTH)\b/i.test(text);
    return isImap ? refusedBecause('did not greet', text) : foreign(bytes);
  };
  return inSequence(null, greeting, (bytes) => {
    let start = 0;
    for (;;) {
      const end = bytes.indexOf(10, start);
      if (end === -1) return INCOMPLETE;
      const text = bytes.toString('latin1', start, end).replace(/\r$/, '');
      start = end + 1;
      if (text.startsWith('* ')) continue;
      return new RegExp(`^${IMAP_TAG} OK\\b`, 'i').test(text)
        ? agreed(start)
        : refusedBecause('refused STARTTLS', text);
    }
  });
}

/** RFC 6120 5.4. */
export function xmpp(serverName: string): Dialogue {
  const TLS = 'urn:ietf:params:xml:ns:xmpp-tls';
  const opening = `<?xml version='1.0'?><stream:stream to='${serverName}' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>`;
  const element =
    (name: RegExp, onElement: (used: number, before: string) => Reading) =>
    (bytes: Buffer): Reading => {
      const text = bytes.toString('latin1');
      const error = /<(?:stream:error|failure)\b[\s\S]{0,200}/.exec(text)?.[0];
      if (error !== undefined) return refusedBecause('refused STARTTLS', error);
      if (!/^\s*(?:<|$)/.test(text)) return foreign(bytes);
      const found = name.exec(text);
      if (found === null) return INCOMPLETE;
      const used = found.index + found[0].length;
      return onElement(used, text.slice(0, used));
    };
  return inSequence(
    Buffer.from(opening),
    element(/<\/stream:features\s*>|<stream:features\s*\/>/, (used, features) =>
      features.includes(TLS)
        ? next(used, `<starttls xmlns='${TLS}'/>`)
        : refusedBecause('does not offer STARTTLS'),
    ),
    element(/<proceed\b[^<>]*(?:\/>|>\s*<\/proceed\s*>)/, agreed),
  );
}
