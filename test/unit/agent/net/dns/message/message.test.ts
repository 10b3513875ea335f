import type { Answer } from 'dns-packet';
import { describe, expect, it } from 'vitest';
import { decodeMessage } from '../../../../../../src/agent/net/dns/message/message.ts';
import {
  type AskedQuestion,
  AUTHORITATIVE_ANSWER,
  answerTo,
  serviceBinding,
  u16,
  wireName,
  type ZoneRecord,
} from '../../../../../support/servers/dns-wire.ts';

const ASKED: AskedQuestion = {
  id: 4711,
  name: 'example.com',
  type: 1,
  edns: true,
  authenticData: false,
  protocol: 'UDP',
};

function decoded(bytes: Buffer) {
  const result = decodeMessage(bytes);
  if (!result.ok) throw new Error(result.problem);
  return result.value;
}

function faultOf(bytes: Buffer): string {
  const result = decodeMessage(bytes);
  return result.ok ? 'no fault' : result.problem;
}

/** A message of one record with these RDATA octets. */
function withRdata(type: number, rdata: Buffer): Buffer {
  return answerTo(ASKED, { answers: [{ name: 'example.com', type, rdata }] });
}

function dataOf(record: ZoneRecord): string | undefined {
  return decoded(answerTo(ASKED, { answers: [record] })).answers[0]?.data;
}

const name = 'example.com';

describe('a whole message', () => {
  it('has its header, question, records and EDNS', () => {
    const message = decoded(
      answerTo(ASKED, {
        flags: AUTHORITATIVE_ANSWER,
        rcode: 3,
        answers: [{ name, type: 'A', ttl: 60, data: '192.0.2.1' }],
        authorities: [{ name, type: 'NS', ttl: 3600, data: 'ns1.example.com' }],
        additionals: [{ name: 'ns1.example.com', type: 'AAAA', ttl: 5, data: '2001:db8::1' }],
      }),
    );
    expect(message).toMatchObject({
      id: 4711,
      isResponse: true,
      opcode: 0,
      authoritative: true,
      truncated: false,
      recursionDesired: false,
      recursionAvailable: false,
      rcode: 3,
      questions: [{ name: 'example.com.', type: 1, class: 1 }],
      answers: [{ name: 'example.com.', type: 1, class: 1, ttlSeconds: 60, data: '192.0.2.1' }],
      authorities: [{ type: 2, ttlSeconds: 3600, data: 'ns1.example.com.' }],
      additionals: [{ name: 'ns1.example.com.', type: 28, data: '2001:db8::1' }],
      edns: { version: 0, udpPayloadBytes: 4096, dnssecOk: false },
      extraBytes: 0,
    });
  });

  it('has the eight upper bits of its response code in EDNS', () => {
    expect(decoded(answerTo(ASKED, { rcode: 16 })).rcode).toBe(16);
    expect(decoded(answerTo(ASKED, { rcode: 0x123 })).rcode).toBe(0x123);
  });

  it('may be followed by extra bytes', () => {
    const bytes = Buffer.concat([answerTo(ASKED), Buffer.from('rest')]);
    expect(decoded(bytes).extraBytes).toBe(4);
  });
});

describe('record data in presentation form', () => {
  const byLibrary: readonly (readonly [Answer, string])[] = [
    [{ name, type: 'A', data: '192.0.2.255' }, '192.0.2.255'],
    [{ name, type: 'AAAA', data: '2001:0:0:1::1' }, '2001:0:0:1::1'],
    [{ name, type: 'CNAME', data: 'target.example.net' }, 'target.example.net.'],
    [{ name, type: 'NS', data: 'ns1.example.com' }, 'ns1.example.com.'],
    [{ name, type: 'PTR', data: 'host.example.com' }, 'host.example.com.'],
    [{ name, type: 'DNAME', data: 'example.org' }, 'example.org.'],
    [
      { name, type: 'MX', data: { preference: 10, exchange: 'mail.example.com' } },
      '10 mail.example.com.',
    ],
    [{ name, type: 'MX', data: { preference: 0, exchange: '.' } }, '0 .'],
    [{ name, type: 'TXT', data: ['v=spf1 -all', 'second'] }, '"v=spf1 -all" "second"'],
    [{ name, type: 'TXT', data: 'say "hi" \\ ü\n' }, '"say \\"hi\\" \\\\ \\195\\188\\010"'],
    [{ name, type: 'TXT', data: '' }, '""'],
    [
      { name, type: 'SRV', data: { priority: 1, weight: 2, port: 443, target: 'a.example.com' } },
      '1 2 443 a.example.com.',
    ],
    [
      { name, type: 'CAA', data: { flags: 128, tag: 'issue', value: 'ca.example; x=1' } },
      '128 issue "ca.example; x=1"',
    ],
    [
      {
        name,
        type: 'SOA',
        data: {
          mname: 'ns1.example.com',
          rname: 'host\\.master.example.com',
          serial: 4_294_967_295,
          refresh: 7200,
          retry: 3600,
          expire: 1_209_600,
          minimum: 300,
        },
      },
      'ns1.example.com. host\\.master.example.com. 4294967295 7200 3600 1209600 300',
    ],
  ];
  it.each(byLibrary)('%j', (record, text) => {
    expect(dataOf(record)).toBe(text);
  });

  it('is generic for unknown types (RFC 3597)', () => {
    expect(dataOf({ name, type: 62_347, rdata: Buffer.from('0a1bff', 'hex') })).toBe(
      '\\# 3 0A1BFF',
    );
    expect(dataOf({ name, type: 62_347, rdata: Buffer.alloc(0) })).toBe('\\# 0');
  });

  it('is generic for an A record of another class than IN', () => {
    expect(dataOf({ name, type: 'A', class: 'CH', data: '192.0.2.1' })).toBe('\\# 4 C0000201');
  });

  const target = wireName();
  const bindings: readonly (readonly [string, Buffer, string])[] = [
    ['an alias', serviceBinding(0, wireName('pool', 'example'), []), '0 pool.example.'],
    [
      'all known parameters',
      serviceBinding(1, target, [
        [0, u16(1, 4)],
        [1, Buffer.from('\x02h3\x02h2')],
        [2, Buffer.alloc(0)],
        [3, u16(8443)],
        [4, Buffer.from([192, 0, 2, 1, 192, 0, 2, 2])],
        [5, Buffer.from('ech!')],
        [6, Buffer.from('20010db8000000000000000000000001', 'hex')],
        [7, Buffer.from('/q{?dns}')],
        [65_333, Buffer.from('a"b')],
      ]),
      '1 . mandatory=alpn,ipv4hint alpn="h3,h2" no-default-alpn port=8443 ipv4hint=192.0.2.1,192.0.2.2 ech=ZWNoIQ== ipv6hint=2001:db8::1 dohpath="/q{?dns}" key65333="a\\"b"',
    ],
    [
      'a protocol id with a comma and a backslash',
      serviceBinding(1, target, [[1, Buffer.from('\x08f\\oo,bar\x02h2')]]),
      '1 . alpn="f\\\\\\\\oo\\\\,bar,h2"',
    ],
  ];
  it.each(bindings)('of HTTPS with %s', (_what, rdata, text) => {
    expect(dataOf({ name, type: 65, rdata })).toBe(text);
    expect(dataOf({ name, type: 64, rdata })).toBe(text);
  });
});

describe('names', () => {
  it('are escaped if a character has another meaning', () => {
    const labels = wireName('a.b', 'c"d\\', Buffer.from([0, 0x20, 0xff]), '$(x);@');
    expect(decoded(withRdata(2, labels)).answers[0]?.data).toBe(
      'a\\.b.c\\"d\\\\.\\000\\032\\255.\\$\\(x\\)\\;\\@.',
    );
  });

  it('may contain pointers to earlier names', () => {
    // 12 is the question's name, 20 its second label.
    const mail = Buffer.concat([Buffer.from('\x04mail'), u16(0xc000 + 12)]);
    const rdata = Buffer.concat([u16(5), mail]);
    expect(decoded(withRdata(15, rdata)).answers[0]?.data).toBe('5 mail.example.com.');
    expect(decoded(withRdata(2, u16(0xc000 + 20))).answers[0]?.data).toBe('com.');
  });

  it('have at most 255 octets', () => {
    const longest = wireName(...new Array<string>(127).fill('a'));
    expect(decoded(withRdata(2, longest)).answers[0]?.data).toBe('a.'.repeat(127));
    expect(faultOf(withRdata(2, wireName(...new Array<string>(126).fill('a'), 'aa')))).toBe(
      'a name is longer than 255 octets',
    );
  });
});

/** The offset at which the RDATA of the only record begins, for pointers to it. */
const RDATA_OFFSET = withRdata(2, Buffer.alloc(0)).length - 11;

describe('hostile bytes', () => {
  const cases: readonly (readonly [string, Buffer, string])[] = [
    [
      'a pointer to itself',
      u16(0xc000 + RDATA_OFFSET),
      'a name contains a bad compression pointer',
    ],
    ['a pointer ahead', u16(0xffff), 'a name contains a bad compression pointer'],
    [
      'a ring of two pointers',
      Buffer.concat([u16(0xc000 + RDATA_OFFSET + 2), u16(0xc000 + RDATA_OFFSET)]),
      'a name contains a bad compression pointer',
    ],
    [
      'a label and a pointer back to it',
      Buffer.concat([Buffer.from('\x01a'), u16(0xc000 + RDATA_OFFSET)]),
      'a name contains a bad compression pointer',
    ],
    ['half a pointer', Buffer.from([0xc0]), 'a name contains a bad compression pointer'],
    [
      'a label of an unknown kind',
      Buffer.from([0x41, 0]),
      'a name contains a label of an unknown kind',
    ],
    ['a label past the data', Buffer.from([63, 97]), 'a name reaches past the end'],
    ['no end of the name', Buffer.from('\x01a'), 'a name reaches past the end'],
    [
      'more data than the name',
      Buffer.concat([wireName('a'), Buffer.from('x')]),
      'the data of a record is longer than what it contains',
    ],
  ];
  it.each(cases)('in a name: %s', (_what, rdata, fault) => {
    expect(faultOf(withRdata(2, rdata))).toBe(fault);
  });

  it.each([
    ['an A record of three octets', 1, Buffer.from([1, 2, 3])],
    ['an A record of five octets', 1, Buffer.from([1, 2, 3, 4, 5])],
    ['an AAAA record of four octets', 28, Buffer.from([1, 2, 3, 4])],
    ['an empty TXT record', 16, Buffer.alloc(0)],
    ['a TXT string past the data', 16, Buffer.from('\x05abc')],
    ['an MX record without a name', 15, u16(10)],
    ['an SOA record that ends early', 6, Buffer.concat([wireName('a'), wireName('b'), u16(1)])],
    ['a CAA tag past the data', 257, Buffer.from([0, 9, 97])],
    [
      'service parameters out of order',
      65,
      serviceBinding(1, wireName(), [
        [4, Buffer.alloc(4)],
        [3, u16(1)],
      ]),
    ],
    [
      'a service parameter twice',
      65,
      serviceBinding(1, wireName(), [
        [3, u16(1)],
        [3, u16(1)],
      ]),
    ],
    ['a service port of three octets', 65, serviceBinding(1, wireName(), [[3, Buffer.alloc(3)]])],
    ['an empty address hint', 65, serviceBinding(1, wireName(), [[4, Buffer.alloc(0)]])],
    ['a value for no-default-alpn', 65, serviceBinding(1, wireName(), [[2, Buffer.alloc(1)]])],
    ['a service parameter past the data', 65, Buffer.concat([u16(1), wireName(), u16(3, 200)])],
  ])('%s', (_what, type, rdata) => {
    expect(decodeMessage(withRdata(type, rdata)).ok).toBe(false);
  });

  it('wrong record counts are refused', () => {
    const bytes = answerTo(ASKED, { edns: false });
    for (const offset of [4, 6, 8, 10]) {
      const lie = Buffer.from(bytes);
      lie.writeUInt16BE(0xffff, offset);
      expect(decodeMessage(lie).ok).toBe(false);
    }
  });

  it('a record with a length beyond the message is refused', () => {
    const bytes = withRdata(62_000, Buffer.from('abcd'));
    for (let length = bytes.length - 12; length > 0; length -= 1) {
      expect(decodeMessage(bytes.subarray(0, length)).ok).toBe(false);
    }
  });

  it('two OPT records are refused', () => {
    const opt: Answer = {
      type: 'OPT',
      name: '.',
      udpPayloadSize: 512,
      extendedRcode: 0,
      ednsVersion: 0,
      flags: 0,
      flag_do: false,
      options: [],
    };
    expect(faultOf(answerTo(ASKED, { additionals: [opt] }))).toBe(
      'it has more than one OPT record',
    );
  });

  it('a chain of thousands of pointers is followed at most 127 times', () => {
    const chain = Buffer.alloc(8000);
    for (let at = 2; at < chain.length; at += 2) {
      chain.writeUInt16BE(0xc000 + RDATA_OFFSET + at - 2, at);
    }
    const first = answerTo(ASKED, { answers: [{ name, type: 62_000, rdata: chain }], edns: false });
    const at = (pointers: number): Buffer => {
      const pointing = u16(0xc000 + RDATA_OFFSET + 2 * (pointers - 1));
      const record = Buffer.concat([pointing, u16(62_000, 1, 0, 0, 0)]);
      const bytes = Buffer.concat([first, record]);
      bytes.writeUInt16BE(2, 6);
      return bytes;
    };
    expect(decodeMessage(at(127)).ok).toBe(true);
    expect(faultOf(at(128))).toBe('a name contains a bad compression pointer');
  });

  /** A message of `count` records whose names are pointers; the targets lie in the first's data. */
  function pointingInto(data: Buffer, count: number, target: (index: number) => number): Buffer {
    const first = answerTo(ASKED, { answers: [{ name, type: 62_000, rdata: data }], edns: false });
    const records = Array.from({ length: count }, (_, index) =>
      u16(0xc000 + RDATA_OFFSET + target(index), 62_000, 1, 0, 0, 0),
    );
    const bytes = Buffer.concat([first, ...records]);
    bytes.writeUInt16BE(count + 1, 6);
    expect(bytes.length).toBeLessThan(65_536);
    return bytes;
  }
  const longest = wireName(...new Array<string>(127).fill('\u0001'));

  it('identical names that unfold to megabytes are read once', () => {
    const { answers } = decoded(pointingInto(longest, 5000, () => 0));
    expect(answers).toHaveLength(5001);
    expect(answers[5000]?.name).toBe('\\001.'.repeat(127));
  });

  it('different names that unfold to megabytes are refused half-way', () => {
    const data = Buffer.concat(new Array<Buffer>(32).fill(longest));
    const differing = pointingInto(data, 4000, (index) => index * 2 + Math.floor(index / 127));
    expect(faultOf(differing)).toBe('its names unfold to more than can be real');
  });
});
