import { describe, expect, test } from 'vitest';
import {
  ldap,
  mysql,
  postgresql,
} from '../../../../../../src/agent/net/tls/starttls/binary-dialogues.ts';
import type { Dialogue } from '../../../../../../src/agent/net/tls/starttls/dialogue.ts';
import {
  ftp,
  imap,
  pop3,
  smtp,
  xmpp,
} from '../../../../../../src/agent/net/tls/starttls/line-dialogues.ts';

/** What the server says, and what the client is to answer: text, or hexadecimal in a Buffer. */
type Said = string | Buffer;

const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(' ', ''), 'hex');
const bytesOf = (said: Said): Buffer => (typeof said === 'string' ? Buffer.from(said) : said);

/** Gives the server's bytes to the dialogue in pieces, and returns what the client says. */
function speak(dialogue: Dialogue, server: readonly Said[], pieceBytes: number) {
  const sent: string[] = dialogue.opening === null ? [] : [dialogue.opening.toString('latin1')];
  let bytes = Buffer.alloc(0);
  for (const said of server) {
    const all = bytesOf(said);
    for (let at = 0; at < all.length; at += pieceBytes) {
      bytes = Buffer.concat([bytes, all.subarray(at, at + pieceBytes)]);
      for (;;) {
        const reading = dialogue.read(bytes);
        if (reading.kind === 'incomplete') break;
        if (reading.kind === 'refused') {
          const { what, answer } = reading;
          return { sent, end: answer === null ? what : `${what}: ${answer}` };
        }
        bytes = bytes.subarray(reading.used);
        if (reading.send !== null) sent.push(reading.send.toString('latin1'));
        if (reading.kind === 'agreed') return { sent, end: 'agreed', left: bytes.length };
        if (bytes.length === 0) break;
      }
    }
  }
  return { sent, end: 'incomplete' };
}

const MYSQL_GREETING = hex(
  `4a 00 00 00 0a ${Buffer.from('8.0.36').toString('hex')} 00 2a000000 0102030405060708 00 ff ff ff 02 00 ff df 15
   00000000000000000000 0102030405060708090a0b0c 00 ${Buffer.from('caching_sha2_password').toString('hex')} 00`.replaceAll(
    /\s/g,
    '',
  ),
);
const XMPP_FEATURES = `<?xml version='1.0'?><stream:stream from='chat.test' id='1' version='1.0'
 xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'><stream:features>
 <starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'><required/></starttls></stream:features>`;

const agreeing: readonly [string, () => Dialogue, readonly Said[], readonly Said[]][] = [
  [
    'SMTP',
    () => smtp('192.0.2.7'),
    ['220-mx.test\r\n220 ready\r\n', '250-mx.test\r\n250-starttls\r\n250 SIZE\r\n', '220 go\r\n'],
    ['EHLO [192.0.2.7]\r\n', 'STARTTLS\r\n'],
  ],
  [
    'SMTP over IPv6',
    () => smtp('2001:db8::7'),
    ['220 mx.test ESMTP\r\n', '250 STARTTLS\r\n', '220 go\r\n'],
    ['EHLO [IPv6:2001:db8::7]\r\n', 'STARTTLS\r\n'],
  ],
  [
    'IMAP',
    imap,
    ['* OK [CAPABILITY IMAP4rev1] ready\r\n', '* CAPABILITY x\r\na1 OK begin\r\n'],
    ['a1 STARTTLS\r\n'],
  ],
  ['POP3', pop3, ['+OK ready <1@pop.test>\r\n', '+OK\r\n'], ['STLS\r\n']],
  [
    'FTP',
    ftp,
    ['120 ready in 1 minute\r\n220-Welcome\r\nto 220 files\r\n220 ftp\r\n', '234 go\r\n'],
    ['AUTH TLS\r\n'],
  ],
  [
    'XMPP',
    () => xmpp('chat.test'),
    [XMPP_FEATURES, "<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"],
    [
      "<?xml version='1.0'?><stream:stream to='chat.test' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>",
      "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>",
    ],
  ],
  ['PostgreSQL', postgresql, ['S'], [hex('00000008 04d2162f')]],
  [
    'MySQL',
    mysql,
    [MYSQL_GREETING],
    [hex(`20 00 00 01 00 8a 00 00 00 00 00 01 2d ${'00'.repeat(23)}`)],
  ],
  [
    'LDAP',
    ldap,
    [hex('30 0c 02 01 01 78 07 0a 01 00 04 00 04 00')],
    [hex(`301d 020101 7718 8016 ${Buffer.from('1.3.6.1.4.1.1466.20037').toString('hex')}`)],
  ],
  [
    'LDAP with long forms of lengths',
    ldap,
    [hex('30 84 00 00 00 10 02 01 01 78 84 00 00 00 07 0a 01 00 04 00 04 00')],
    [hex(`301d 020101 7718 8016 ${Buffer.from('1.3.6.1.4.1.1466.20037').toString('hex')}`)],
  ],
];

describe('a server that agrees to TLS', () => {
  test.each(agreeing)('%s, in one piece and byte by byte', (_name, begin, server, client) => {
    const expected = client.map((said) => bytesOf(said).toString('latin1'));
    for (const pieceBytes of [1, 3, 100_000]) {
      const spoken = speak(begin(), server, pieceBytes);
      expect(spoken).toEqual({ sent: expected, end: 'agreed', left: 0 });
    }
  });

  test.each(agreeing)('%s: what follows its agreement is not used', (_name, begin, server) => {
    const last = Buffer.concat([bytesOf(server.at(-1) ?? ''), Buffer.from('250 injected\r\n')]);
    expect(speak(begin(), [...server.slice(0, -1), last], 100_000)).toMatchObject({
      end: 'agreed',
      left: 14,
    });
  });
});

const smtpGreeting = '220 mx.test\r\n';

describe('a server that does not agree to TLS is reported', () => {
  test.each<[string, () => Dialogue, readonly Said[], string]>([
    ['SMTP is busy', () => smtp('::1'), ['421 too many\r\n'], 'did not greet: 421 too many'],
    [
      'SMTP without',
      () => smtp('::1'),
      [smtpGreeting, '250-a\r\n250 SIZE\r\n'],
      'does not offer STARTTLS',
    ],
    [
      'SMTP refuses',
      () => smtp('::1'),
      [smtpGreeting, '250 STARTTLS\r\n', '454 not now\r\n'],
      'refused STARTTLS: 454 not now',
    ],
    ['SMTP is SSH', () => smtp('::1'), ['SSH-2.0-x\r\n'], 'speaks another protocol: SSH-2.0-x'],
    ['IMAP refuses', imap, ['* OK x\r\n', 'a1 BAD no\r\n'], 'refused STARTTLS: a1 BAD no'],
    ['IMAP says bye', imap, ['* BYE no\r\n'], 'did not greet: * BYE no'],
    ['IMAP is SMTP', imap, [smtpGreeting], 'speaks another protocol: 220 mx.test'],
    ['POP3 refuses', pop3, ['+OK\r\n', '-ERR no\r\n'], 'refused STLS: -ERR no'],
    ['POP3 is SMTP', pop3, [smtpGreeting], 'speaks another protocol: 220 mx.test'],
    ['FTP refuses', ftp, ['220 x\r\n', '530 log in\r\n'], 'refused AUTH TLS: 530 log in'],
    [
      'XMPP without',
      () => xmpp('chat.test'),
      ['<stream:stream><stream:features><bind/></stream:features>'],
      'does not offer STARTTLS',
    ],
    [
      'XMPP fails',
      () => xmpp('chat.test'),
      ['<stream:stream><stream:error><host-unknown/>'],
      'refused STARTTLS: <stream:error><host-unknown/>',
    ],
    ['PostgreSQL without', postgresql, ['N'], 'does not offer TLS: it answered N to SSLRequest'],
    ['PostgreSQL is SMTP', postgresql, [smtpGreeting], 'speaks another protocol'],
    [
      'MySQL blocks',
      mysql,
      [hex(`0a 00 00 00 ff 69 04 ${Buffer.from('blocked').toString('hex')}`)],
      'did not greet: blocked',
    ],
    ['MySQL is SMTP', mysql, [smtpGreeting], 'speaks another protocol'],
    [
      'LDAP refuses',
      ldap,
      [hex(`30 0e 02 01 01 78 09 0a 01 34 04 00 04 02 ${Buffer.from('no').toString('hex')}`)],
      'refused StartTLS with result code 52: no',
    ],
    ['LDAP is SMTP', ldap, [smtpGreeting], 'speaks another protocol'],
  ])('%s', (_name, begin, server, end) => {
    expect(speak(begin(), server, 100_000).end).toBe(end);
  });

  test('MySQL without the TLS capability', () => {
    const greeting = Buffer.from(MYSQL_GREETING);
    greeting[4 + 1 + 7 + 13 + 1] = 0xf7;
    expect(speak(mysql(), [greeting], 100_000).end).toBe('does not offer TLS');
  });
});
