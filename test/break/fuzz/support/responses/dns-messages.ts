import fc from 'fast-check';
import { TYPE_NUMBERS } from '../../../../../src/agent/net/dns/message/parameters.ts';
import { answerTo, u16, wireName, type ZoneRecord } from '../../../../support/servers/dns-wire.ts';
import { type CorpusFile, corpusOf, mutated, randomBytes } from './bytes.ts';

/** The name in all questions of the campaigns and in the corpus' answers. */
export const ASKED_NAME = 'example.com';
/** A placeholder for the question's id in generated messages and corpus files. */
const ID_PLACE = 0x5645;

export const ASKED_TYPES = ['A', 'AAAA', 'TXT', 'MX', 'SOA', 'SRV', 'CAA', 'HTTPS', 'PTR'] as const;
export type AskedType = (typeof ASKED_TYPES)[number];

/** The message with the question's id in its placeholder. */
export function withId(bytes: Buffer, id: number): Buffer {
  if (bytes.length < 2 || bytes.readUInt16BE(0) !== ID_PLACE) return bytes;
  const copy = Buffer.from(bytes);
  copy.writeUInt16BE(id, 0);
  return copy;
}

/** The same for a stream, in which messages may begin anywhere. */
export function withIds(bytes: Buffer, id: number): Buffer {
  const copy = Buffer.from(bytes);
  const mark = u16(ID_PLACE);
  for (let at = copy.indexOf(mark); at !== -1; at = copy.indexOf(mark, at + 2)) {
    copy.writeUInt16BE(id, at);
  }
  return copy;
}

function asked(type: AskedType, edns = true) {
  return {
    id: ID_PLACE,
    name: ASKED_NAME,
    type: TYPE_NUMBERS[type],
    edns,
    authenticData: false,
    protocol: 'UDP' as const,
  };
}

const name = ASKED_NAME;
const HONEST_RECORDS: Readonly<Record<AskedType, ZoneRecord>> = {
  A: { name, type: 'A', ttl: 300, data: '192.0.2.1' },
  AAAA: { name, type: 'AAAA', ttl: 300, data: '2001:db8::1' },
  TXT: { name, type: 'TXT', ttl: 300, data: ['v=spf1 ', '-all', 'ü"\\'] },
  MX: { name, type: 'MX', ttl: 300, data: { preference: 10, exchange: 'mail.example.com' } },
  SOA: { name, type: 'SOA', data: { mname: 'a.example', rname: 'b.example', serial: 1 } },
  SRV: { name, type: 'SRV', data: { priority: 1, weight: 2, port: 3, target: 'sip.example' } },
  CAA: { name, type: 'CAA', data: { flags: 0, tag: 'issue', value: 'ca.example' } },
  HTTPS: {
    name,
    type: TYPE_NUMBERS.HTTPS,
    rdata: Buffer.concat([u16(1), wireName(), u16(1, 3), Buffer.from('\x02h2'), u16(3, 2, 443)]),
  },
  PTR: { name, type: 'PTR', ttl: 300, data: 'host.example.com' },
};

/** A completely valid answer. */
export function honestAnswer(type: AskedType): Buffer {
  return answerTo(asked(type), { answers: [HONEST_RECORDS[type]] });
}

/** Honest answers of any length; `records` in the answer section. */
export const honestMessage = fc
  .record({
    type: fc.constantFrom(...ASKED_TYPES),
    records: fc.nat(6),
    others: fc.constantFrom(...ASKED_TYPES),
    rcode: fc.constantFrom(0, 0, 0, 2, 3, 5, 16, 0x123),
    edns: fc.boolean(),
  })
  .map(({ type, records, others, rcode, edns }) => ({
    type,
    records,
    rcode: edns ? rcode : rcode & 0xf,
    bytes: answerTo(asked(type, edns), {
      rcode: edns ? rcode : rcode & 0xf,
      answers: new Array<ZoneRecord>(records).fill(HONEST_RECORDS[type]),
      authorities: [HONEST_RECORDS[others]],
      additionals: [HONEST_RECORDS.A],
    }),
  }));

const QUESTION = { ...HONEST_RECORDS, bytes: wireName('example', 'com') };
const octet = fc.nat(255);
const word = fc.oneof(fc.constantFrom(0, 1, 2, 0xff, 0x7fff, 0xffff), fc.nat(0xffff));

const label = fc
  .oneof(
    {
      weight: 6,
      arbitrary: fc.stringMatching(/^[a-z0-9_-]{1,12}$/).map((text) => Buffer.from(text)),
    },
    { weight: 1, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 63 }) },
  )
  .map((bytes) => Buffer.concat([Buffer.from([bytes.length]), bytes]));
const pointer = fc
  .oneof(fc.constantFrom(0, 11, 12, 13, 20, 28, 29, 40), fc.nat(0x3fff))
  .map((target) => u16(0xc000 | target));
const nameEnd = fc.oneof(
  { weight: 12, arbitrary: fc.constant(Buffer.from([0])) },
  { weight: 4, arbitrary: fc.constantFrom(u16(0xc00c), u16(0xc014)) },
  { weight: 1, arbitrary: pointer },
  { weight: 1, arbitrary: octet.map((value) => Buffer.from([value])) },
);
const anyName = fc.oneof(
  { weight: 3, arbitrary: fc.constant(u16(0xc00c)) },
  { weight: 1, arbitrary: fc.constant(QUESTION.bytes) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.array(label, { maxLength: 5 }), nameEnd)
      .map(([labels, end]) => Buffer.concat([...labels, end])),
  },
);

const u32 = fc.tuple(word, word).map((pair) => u16(...pair));
const characterString = fc
  .uint8Array({ maxLength: 40 })
  .map((bytes) => Buffer.concat([Buffer.from([bytes.length]), bytes]));
const parameter = fc
  .tuple(fc.oneof(fc.nat(9), word), fc.uint8Array({ maxLength: 20 }))
  .map(([key, value]) => ({ key, bytes: Buffer.concat([u16(key, value.length), value]) }));
/** Mostly in the required order. */
const parameters = fc
  .tuple(fc.uniqueArray(parameter, { selector: ({ key }) => key, maxLength: 6 }), fc.nat(3))
  .map(([list, isMuddled]) =>
    isMuddled === 0 ? list : list.toSorted((left, right) => left.key - right.key),
  )
  .map((list) => Buffer.concat(list.map(({ bytes }) => bytes)));

function joined(...parts: readonly fc.Arbitrary<Buffer>[]): fc.Arbitrary<Buffer> {
  return fc.tuple(...parts).map((list) => Buffer.concat(list));
}

/** RDATA in the form of its type, possibly with a senseless value. */
const rdataOf: ReadonlyMap<number, fc.Arbitrary<Buffer>> = new Map([
  [TYPE_NUMBERS.A, joined(u32)],
  [TYPE_NUMBERS.AAAA, joined(u32, u32, u32, u32)],
  [TYPE_NUMBERS.NS, anyName],
  [TYPE_NUMBERS.CNAME, anyName],
  [TYPE_NUMBERS.PTR, anyName],
  [TYPE_NUMBERS.DNAME, anyName],
  [
    TYPE_NUMBERS.MX,
    joined(
      word.map((value) => u16(value)),
      anyName,
    ),
  ],
  [
    TYPE_NUMBERS.TXT,
    fc.array(characterString, { minLength: 1, maxLength: 4 }).map((list) => Buffer.concat(list)),
  ],
  [TYPE_NUMBERS.SPF, characterString],
  [
    TYPE_NUMBERS.SRV,
    joined(
      u32,
      word.map((value) => u16(value)),
      anyName,
    ),
  ],
  [TYPE_NUMBERS.SOA, joined(anyName, anyName, u32, u32, u32, u32, u32)],
  [
    TYPE_NUMBERS.CAA,
    joined(
      octet.map((flags) => Buffer.from([flags])),
      characterString,
      randomBytes(30),
    ),
  ],
  [
    TYPE_NUMBERS.HTTPS,
    joined(
      word.map((value) => u16(value)),
      anyName,
      parameters,
    ),
  ],
  [TYPE_NUMBERS.OPT, randomBytes(20)],
  [TYPE_NUMBERS.RRSIG, randomBytes(60)],
  [62_347, randomBytes(60)],
]);

const record = fc.constantFrom(...rdataOf.entries()).chain(([type, rdata]) =>
  fc
    .record({
      owner: anyName,
      rrClass: fc.oneof({ weight: 6, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: word }),
      ttl: u32,
      data: fc.oneof({ weight: 15, arbitrary: rdata }, { weight: 1, arbitrary: randomBytes(40) }),
      // The correct RDLENGTH, or off by this much.
      lie: fc.oneof(
        { weight: 20, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.integer({ min: -3, max: 300 }) },
      ),
    })
    .map(({ owner, rrClass, ttl, data, lie }) => {
      const length = Math.max(0, data.length + lie);
      return Buffer.concat([owner, u16(type, rrClass), ttl, u16(length), data]);
    }),
);

const flags = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0x8180) },
  { weight: 1, arbitrary: fc.constantFrom(0x8380, 0x8580, 0x81a0, 0x8182, 0x8183, 0x8181, 0x8185) },
  { weight: 1, arbitrary: word },
);

/** A message of the grammar, with possibly wrong counts, lengths and pointers. */
export const grammarMessage = fc
  .record({
    type: fc.constantFrom(...ASKED_TYPES),
    flags,
    question: fc.constantFrom('honest', 'honest', 'honest', 'honest', 'none', 'twice', 'other'),
    records: fc.array(record, { maxLength: 8 }),
    sections: fc.tuple(fc.nat(8), fc.nat(8)),
    countLie: fc.oneof(
      { weight: 15, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.constantFrom(1, 2, 100, 65_000) },
    ),
    behind: fc.oneof(
      { weight: 6, arbitrary: fc.constant(Buffer.alloc(0)) },
      { weight: 1, arbitrary: randomBytes(30) },
    ),
  })
  .map(({ type, flags: bits, question, records, sections, countLie, behind }) => {
    const honest = Buffer.concat([QUESTION.bytes, u16(TYPE_NUMBERS[type], 1)]);
    const other = Buffer.concat([wireName('evil', 'example'), u16(TYPE_NUMBERS[type], 1)]);
    const questions = { honest: [honest], none: [], twice: [honest, honest], other: [other] }[
      question
    ];
    const answers = Math.min(records.length, sections[0]);
    const authorities = Math.min(records.length - answers, sections[1]);
    const counts = [answers + countLie, authorities, records.length - answers - authorities];
    const head = u16(ID_PLACE, bits, questions.length, ...counts.map((count) => count & 0xffff));
    return { type, bytes: Buffer.concat([head, ...questions, ...records, behind]) };
  });

/** Corpus messages: each an answer to A that begins with the placeholder of the id. */
export const corpusMessages: readonly CorpusFile[] = corpusOf('dns', '.msg');
/** Streams: messages with or without their length prefixes. */
export const corpusStreams: readonly CorpusFile[] = corpusOf('dns', '.stream');

const fromCorpus = fc.constantFrom(...corpusMessages).map(({ bytes }) => bytes);

/** A message of any kind, with the type that it may answer. */
export const anyMessage: fc.Arbitrary<{ readonly type: AskedType; readonly bytes: Buffer }> =
  fc.oneof(
    { weight: 4, arbitrary: grammarMessage },
    {
      weight: 3,
      arbitrary: mutated(fromCorpus).map((bytes) => ({ type: 'A' as const, bytes })),
    },
    {
      weight: 3,
      arbitrary: honestMessage.chain(({ type, bytes }) =>
        mutated(fc.constant(bytes)).map((changed) => ({ type, bytes: changed })),
      ),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(word, word, word, word, randomBytes(300))
        .map(([one, two, three, four, rest]) => ({
          type: 'A' as const,
          bytes: Buffer.concat([u16(ID_PLACE, 0x8180, one, two, three, four), rest]),
        })),
    },
    { weight: 1, arbitrary: randomBytes(300).map((bytes) => ({ type: 'A' as const, bytes })) },
  );
