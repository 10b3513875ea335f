import { type Answer, AUTHENTIC_DATA, CHECKING_DISABLED } from 'dns-packet';
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

const name = 'example.com';

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
  it('has status, flags, question, answer and authority', () => {
    expect(jsonAnswerOf(FULL)).toEqual({
      Status: 0,
      AA: false,
      TC: false,
      RD: true,
      RA: true,
      AD: false,
      CD: false,
      Question: [{ name: 'example.com.', type: 'MX' }],
      Answer: [
        {
          name: 'example.com.',
          type: 'MX',
          TTL: 300,
          data: '10 mail.example.com.',
          preference: 10,
          exchange: 'mail.example.com.',
        },
      ],
      Authority: [{ name: 'example.com.', type: 'NS', TTL: 3600, data: 'ns1.example.com.' }],
    });
  });

  it.each<[string, Answer, string, object]>([
    [
      'SOA',
      {
        name,
        type: 'SOA',
        data: {
          mname: 'ns1.example.com',
          rname: 'hostmaster.example.com',
          serial: 4_294_967_295,
          refresh: 7200,
          retry: 3600,
          expire: 1_209_600,
          minimum: 300,
        },
      },
      'ns1.example.com. hostmaster.example.com. 4294967295 7200 3600 1209600 300',
      {
        mname: 'ns1.example.com.',
        rname: 'hostmaster.example.com.',
        serial: 4_294_967_295,
        refresh: 7200,
        retry: 3600,
        expire: 1_209_600,
        minimum: 300,
      },
    ],
    [
      'SRV',
      { name, type: 'SRV', data: { priority: 1, weight: 2, port: 5060, target: 'a.example' } },
      '1 2 5060 a.example.',
      { priority: 1, weight: 2, port: 5060, target: 'a.example.' },
    ],
    [
      'CAA',
      { name, type: 'CAA', data: { flags: 128, tag: 'issue', value: 'ca "1"' } },
      '128 issue "ca \\"1\\""',
      { flags: 128, tag: 'issue', value: 'ca "1"' },
    ],
    [
      'DS',
      {
        name,
        type: 'DS',
        data: { keyTag: 60_485, algorithm: 5, digestType: 1, digest: Buffer.from('2bb1', 'hex') },
      },
      '60485 5 1 2BB1',
      { keyTag: 60_485, algorithm: 5, digestType: 1, digest: '2BB1' },
    ],
    [
      'DNSKEY',
      { name, type: 'DNSKEY', data: { flags: 257, algorithm: 13, key: Buffer.from('key') } },
      '257 3 13 a2V5',
      { flags: 257, protocol: 3, algorithm: 13, publicKey: 'a2V5' },
    ],
    [
      'TLSA',
      {
        name,
        type: 'TLSA',
        data: { usage: 3, selector: 1, matchingType: 1, certificate: Buffer.from([0xd2, 0xab]) },
      },
      '3 1 1 D2AB',
      { usage: 3, selector: 1, matchingType: 1, certificateData: 'D2AB' },
    ],
  ])('has the parts of %s by name', (type, record, data, fields) => {
    const [read] = jsonAnswerOf(messageOf({ answers: [record] })).Answer;
    expect(read).toEqual({ name: 'example.com.', type, TTL: 0, data, ...fields });
  });

  it('has the flags of the header', () => {
    const flags = AUTHORITATIVE_ANSWER | AUTHENTIC_DATA | CHECKING_DISABLED;
    const answer = jsonAnswerOf(messageOf({ flags }));
    expect(answer).toMatchObject({ AA: true, TC: false, RD: false, RA: false, AD: true, CD: true });
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

  it('counts the parts of records that the JSON form has beside their data', () => {
    const key = { flags: 0, algorithm: 13, key: Buffer.alloc(30_000) };
    const answers = [1, 2, 3].map((ttl): Answer => ({ name, type: 'DNSKEY', ttl, data: key }));
    const decoded = answers.flatMap((answer) => messageOf({ answers: [answer] }).answers);
    const { message, leftOut } = shownPartOf({ ...FULL, answers: [...decoded, ...decoded] });
    expect([message.answers.length, leftOut]).toEqual([3, 5]);
    expect(JSON.stringify(jsonAnswerOf(message)).length).toBeLessThan(263_000);
  });
});
