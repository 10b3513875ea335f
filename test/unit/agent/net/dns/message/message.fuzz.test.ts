import packet from 'dns-packet';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  decodeHeader,
  decodeMessage,
} from '../../../../../../src/agent/net/dns/message/message.ts';
import {
  makeQuery,
  matchResponse,
  matchStreamedResponse,
} from '../../../../../../src/agent/net/dns/message/query.ts';
import { caseCount } from '../../../../../support/nightly.ts';
import {
  answerTo,
  serviceBinding,
  u16,
  wireName,
} from '../../../../../support/servers/dns-wire.ts';

const ALL_KINDS = answerTo(
  { id: 7, name: 'example.com', type: 1, edns: true, authenticData: false, protocol: 'UDP' },
  {
    answers: [
      { name: 'example.com', type: 'A', data: '192.0.2.1' },
      { name: 'example.com', type: 'AAAA', data: '2001:db8::1' },
      { name: 'example.com', type: 'MX', data: { preference: 1, exchange: 'mail.example.com' } },
      { name: 'example.com', type: 'TXT', data: ['one', 'two'] },
      {
        name: 'example.com',
        type: 65,
        rdata: serviceBinding(1, wireName('a'), [
          [1, Buffer.from('\x02h2')],
          [3, u16(443)],
        ]),
      },
      { name: 'example.com', type: 2, rdata: u16(0xc00c) },
    ],
    authorities: [
      { name: 'com', type: 'SOA', data: { mname: 'a.example', rname: 'b.example', serial: 1 } },
    ],
  },
);

const query = makeQuery({ name: 'example.com.', type: 1 }, { edns: true, authenticData: false });

/** Reads the bytes with every function; a throw or a hang fails the test. */
function readInEveryWay(bytes: Buffer): void {
  const whole = decodeMessage(bytes);
  if (whole.ok) expect(decodeHeader(bytes).ok).toBe(true);
  const mine = Buffer.from(bytes);
  if (mine.length >= 2) mine.writeUInt16BE(query.id, 0);
  matchResponse(mine, query);
  matchStreamedResponse(mine, query);
}

it('random bytes do not make the DNS reader throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => readInEveryWay(Buffer.from(bytes))),
    { numRuns: caseCount(2000) },
  );
});

it('random bytes behind a valid header do not make the DNS reader throw', () => {
  const counts = fc.array(fc.nat(40), { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(counts, fc.uint8Array({ maxLength: 600 }), (sizes, rest) =>
      readInEveryWay(Buffer.concat([u16(query.id, 0x8180, ...sizes), rest])),
    ),
    { numRuns: caseCount(2000) },
  );
});

it('valid messages with changed, cut and doubled octets do not make the DNS reader throw', () => {
  const change = fc.tuple(fc.nat(ALL_KINDS.length - 1), fc.nat(255));
  fc.assert(
    fc.property(
      fc.array(change, { minLength: 1, maxLength: 6 }),
      fc.nat(ALL_KINDS.length),
      fc.boolean(),
      (changes, cutAt, doubled) => {
        const bytes = Buffer.from(ALL_KINDS);
        for (const [offset, value] of changes) bytes[offset] = value;
        readInEveryWay(bytes);
        readInEveryWay(bytes.subarray(0, cutAt));
        if (doubled) readInEveryWay(Buffer.concat([bytes, bytes.subarray(12)]));
      },
    ),
    { numRuns: caseCount(3000) },
  );
});

it('valid messages are read as by an independent reader', () => {
  const label = fc.stringMatching(/^[a-z0-9_-]{1,20}$/);
  const host = fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.'));
  const record = fc.oneof(
    fc.record({ name: host, type: fc.constant('A' as const), ttl: fc.nat(), data: fc.ipV4() }),
    fc.record({ name: host, type: fc.constant('CNAME' as const), ttl: fc.nat(), data: host }),
    fc.record({ name: host, type: fc.constant('NS' as const), ttl: fc.nat(), data: host }),
  );
  fc.assert(
    fc.property(host, fc.array(record, { maxLength: 20 }), (name, answers) => {
      const asked = {
        id: 1,
        name,
        type: 1,
        edns: true,
        authenticData: false,
        protocol: 'UDP' as const,
      };
      const bytes = answerTo(asked, { answers });
      const read = decodeMessage(bytes);
      const expected = (packet.decode(bytes).answers ?? []).map((answer) => ({
        name: `${answer.name}.`,
        ttlSeconds: 'ttl' in answer ? answer.ttl : undefined,
        data: 'data' in answer ? String(answer.data) + (answer.type === 'A' ? '' : '.') : '',
      }));
      expect(read.ok && read.value.answers).toMatchObject(expected);
    }),
    { numRuns: caseCount(300) },
  );
});
