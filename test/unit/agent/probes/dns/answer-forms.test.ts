import { describe, expect, it } from 'vitest';
import {
  type DnsMessage,
  decodeMessage,
} from '../../../../../src/agent/net/dns/message/message.ts';
import {
  digText,
  jsonAnswerOf,
  shownPartOf,
  type TextFacts,
} from '../../../../../src/agent/probes/dns/answer-forms.ts';
import {
  type AnswerParts,
  AUTHORITATIVE_ANSWER,
  answerTo,
  RECURSION_DESIRED,
} from '../../../../support/servers/dns-wire.ts';

const FACTS: TextFacts = {
  server: { host: 'ns1.example.com', address: '192.0.2.53', port: 53 },
  protocol: 'UDP',
  durationMs: 12.4,
  leftOut: 0,
};

function messageOf(parts: AnswerParts): DnsMessage {
  const asked = {
    id: 4711,
    name: 'example.com',
    type: 15,
    edns: true,
    authenticData: true,
    protocol: 'UDP' as const,
  };
  const read = decodeMessage(answerTo(asked, parts));
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}

const FULL = messageOf({
  answers: [
    {
      name: 'example.com',
      type: 'MX',
      ttl: 300,
      data: { preference: 10, exchange: 'mail.example.com' },
    },
  ],
  authorities: [{ name: 'example.com', type: 'NS', ttl: 3600, data: 'ns1.example.com' }],
  additionals: [{ name: 'mail.example.com', type: 'A', ttl: 60, data: '192.0.2.25' }],
});

describe('the text form', () => {
  it('has the layout that dig prints', () => {
    expect(digText(FULL, FACTS)).toBe(
      [
        ';; ->>HEADER<<- opcode: QUERY, status: NOERROR, id: 4711',
        ';; flags: qr rd ra; QUERY: 1, ANSWER: 1, AUTHORITY: 1, ADDITIONAL: 2',
        '',
        ';; OPT PSEUDOSECTION:',
        '; EDNS: version: 0, flags:; udp: 4096',
        ';; QUESTION SECTION:',
        ';example.com.\t\t\tIN\tMX',
        '',
        ';; ANSWER SECTION:',
        'example.com.\t\t300\tIN\tMX\t10 mail.example.com.',
        '',
        ';; AUTHORITY SECTION:',
        'example.com.\t\t3600\tIN\tNS\tns1.example.com.',
        '',
        ';; ADDITIONAL SECTION:',
        'mail.example.com.\t60\tIN\tA\t192.0.2.25',
        '',
        ';; Query time: 12 msec',
        ';; SERVER: 192.0.2.53#53(ns1.example.com) (UDP)',
        `;; MSG SIZE  rcvd: ${FULL.messageBytes}`,
        '',
      ].join('\n'),
    );
  });

  it('leaves out empty sections and warns of oddities', () => {
    const message = messageOf({
      rcode: 3,
      flags: AUTHORITATIVE_ANSWER | RECURSION_DESIRED,
      edns: false,
    });
    expect(digText({ ...message, extraBytes: 7 }, { ...FACTS, leftOut: 3 })).toBe(
      [
        ';; ->>HEADER<<- opcode: QUERY, status: NXDOMAIN, id: 4711',
        ';; flags: qr aa rd; QUERY: 1, ANSWER: 0, AUTHORITY: 0, ADDITIONAL: 0',
        ';; WARNING: recursion requested but not available',
        ';; WARNING: Message has 7 extra bytes at end',
        '',
        ';; QUESTION SECTION:',
        ';example.com.\t\t\tIN\tMX',
        '',
        ';; WARNING: 3 more records are left out here',
        ';; Query time: 12 msec',
        ';; SERVER: 192.0.2.53#53(ns1.example.com) (UDP)',
        `;; MSG SIZE  rcvd: ${message.messageBytes}`,
        '',
      ].join('\n'),
    );
  });

  it('puts a long name one tab before its TTL', () => {
    const name = 'a-name-that-is-longer-than-three-tabs.example';
    const message = messageOf({ answers: [{ name, type: 'A', ttl: 5, data: '192.0.2.1' }] });
    expect(digText(message, FACTS)).toContain(`${name}.\t5\tIN\tA\t192.0.2.1\n`);
  });
});

describe('the JSON form', () => {
  it('has status, flags, question and answer', () => {
    expect(jsonAnswerOf(FULL)).toEqual({
      Status: 0,
      TC: false,
      RD: true,
      RA: true,
      AD: false,
      CD: false,
      Question: [{ name: 'example.com.', type: 'MX' }],
      Answer: [{ name: 'example.com.', type: 'MX', TTL: 300, data: '10 mail.example.com.' }],
    });
  });

  it.each([
    ['joined without quotes', ['v=DKIM1; p=MIG', 'f"MA0'], 'v=DKIM1; p=MIGf"MA0'],
    ['as UTF-8', [Buffer.from('gr\u00fc\u00df', 'utf8')], 'gr\u00fc\u00df'],
    ['escaped where they are no UTF-8', [Buffer.from([0x61, 0xff])], 'a\\255'],
  ])('has the strings of TXT %s', (_what, data, expected) => {
    const message = messageOf({ answers: [{ name: 'example.com', type: 'TXT', data }] });
    expect(jsonAnswerOf(message).Answer[0]?.data).toBe(expected);
  });

  it('shows unknown types and codes by number', () => {
    const message = messageOf({
      rcode: 0x123,
      answers: [{ name: 'example.com', type: 65_280, rdata: Buffer.from([1]) }],
    });
    expect(jsonAnswerOf(message)).toMatchObject({
      Status: 0x123,
      Answer: [{ type: 'TYPE65280', data: '\\# 1 01' }],
    });
    expect(digText(message, FACTS)).toContain('status: RCODE291,');
  });
});

describe('the part that is shown', () => {
  it('is the whole of an honest answer', () => {
    expect(shownPartOf(FULL)).toEqual({ message: FULL, leftOut: 0 });
  });

  it('ends at the limit of a result, and counts the rest', () => {
    const record = FULL.answers[0];
    if (record === undefined) throw new Error('no record');
    const big = { ...record, data: 'x'.repeat(100_000) };
    const { message, leftOut } = shownPartOf({ ...FULL, answers: [big, big, big] });
    expect([message.answers.length, message.authorities.length, leftOut]).toEqual([2, 0, 3]);
  });
});
