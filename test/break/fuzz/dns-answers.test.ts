import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addressesIn } from '../../../src/agent/net/dns/address-answer.ts';
import { decodeHeader, decodeMessage } from '../../../src/agent/net/dns/message/message.ts';
import { TYPE_NUMBERS } from '../../../src/agent/net/dns/message/parameters.ts';
import {
  makeQuery,
  matchResponse,
  matchStreamedResponse,
} from '../../../src/agent/net/dns/message/query.ts';
import { StreamFrames } from '../../../src/agent/net/dns/message/stream-frames.ts';
import { askForAddresses } from '../../../src/agent/net/dns/system/dns-source.ts';
import { digText, jsonAnswerOf, shownPartOf } from '../../../src/agent/probes/dns/answer-forms.ts';
import { SharedBodyMemory } from '../../../src/agent/probes/http/body/body-memory.ts';
import { dnsRunner } from '../../../src/agent/run/check-types/dns.ts';
import type { CheckOf } from '../../../src/model/check/check.ts';
import { dnsDetail } from '../../../src/wire/v1/details/dns-detail.ts';
import { makeContext, NO_ROUTE } from '../../support/agent/probe-context.ts';
import { checkOf } from '../../support/samples/checks.ts';
import { u16, wireName } from '../../support/servers/dns-wire.ts';
import { mutated, segmentLengths, segmentsOf } from './support/responses/bytes.ts';
import { type DnsCase, type DnsLane, withDnsLanes } from './support/responses/dns-lane.ts';
import {
  ASKED_NAME,
  ASKED_TYPES,
  type AskedType,
  anyMessage,
  corpusMessages,
  corpusStreams,
  honestAnswer,
  honestMessage,
  withId,
  withIds,
} from './support/responses/dns-messages.ts';
import { expectOutcome } from './support/responses/outcome.ts';
import { runCampaign } from './support/responses/probe-campaign.ts';

const LANES = 16;
const MINUTES = 60_000;
const TIMEOUT_MS = 10 * MINUTES * Number(process.env.BREAK_FACTOR ?? '1');

/**
 * Deadline of a case that ends with an honest answer or the connection's end: it is never reached.
 */
const DEADLINE_MS = 30_000;
/** Deadline of a case that ends in silence. */
const SHORT_DEADLINE_MS = 25;

/** Failures that a name server can cause. Time-outs are added for silent ones. */
const FAILURES = ['DNS_MALFORMED', 'DNS_UNREACHABLE'] as const;

const NOTHING = Buffer.alloc(0);
const framed = (bytes: Buffer, lie = 0): Buffer =>
  Buffer.concat([u16((bytes.length + lie) & 0xffff), bytes]);

const EMPTY_CASE: DnsCase = {
  type: 'A',
  protocol: 'UDP',
  datagrams: [],
  stream: NOTHING,
  segments: [],
  ending: 'close',
};

/** Each file as one datagram, and as one message of a stream after a truncated datagram. */
const fixedCases: readonly DnsCase[] = [
  ...corpusMessages.flatMap(({ bytes }): DnsCase[] => [
    { ...EMPTY_CASE, datagrams: [bytes], stream: framed(bytes) },
    { ...EMPTY_CASE, protocol: 'TCP', stream: framed(bytes) },
    { ...EMPTY_CASE, datagrams: [bytes], stream: framed(bytes), ending: 'silence' },
  ]),
  ...corpusStreams.flatMap(({ bytes }): DnsCase[] =>
    (['close', 'reset', 'silence'] as const).map((ending) => ({
      ...EMPTY_CASE,
      protocol: 'TCP',
      stream: bytes,
      ending,
    })),
  ),
  ...largestMessages().map(
    (bytes): DnsCase => ({ ...EMPTY_CASE, protocol: 'TCP', stream: framed(bytes) }),
  ),
];

const overUdp: fc.Arbitrary<DnsCase> = fc
  .record({
    first: anyMessage,
    more: fc.oneof(
      { weight: 6, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(anyMessage, { minLength: 1, maxLength: 3 }) },
    ),
    tcp: anyMessage,
    segments: segmentLengths,
  })
  .map(({ first, more, tcp, segments }) => ({
    ...EMPTY_CASE,
    type: first.type,
    datagrams: [first, ...more].map(({ bytes }) => bytes),
    stream: framed(tcp.bytes),
    segments,
  }));

const lengthLie = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(-2, -1, 1, 2, 256, 60_000) },
);
interface Stream {
  readonly type: AskedType;
  readonly stream: Buffer;
}
const frames = fc.array(fc.tuple(anyMessage, lengthLie), { minLength: 1, maxLength: 4 }).map(
  (list): Stream => ({
    type: list[0]?.[0].type ?? 'A',
    stream: Buffer.concat(list.map(([{ bytes }, lie]) => framed(bytes, lie))),
  }),
);
const mutatedFrames = frames.chain(({ type, stream }) =>
  mutated(fc.constant(stream)).map((changed): Stream => ({ type, stream: changed })),
);
const mutatedCorpus = mutated(fc.constantFrom(...corpusStreams.map(({ bytes }) => bytes))).map(
  (stream): Stream => ({ type: 'A', stream }),
);
const anyStream = fc.oneof(
  { weight: 4, arbitrary: frames },
  { weight: 1, arbitrary: mutatedFrames },
  { weight: 2, arbitrary: mutatedCorpus },
);
const overTcp: fc.Arbitrary<DnsCase> = fc
  .record({
    stream: anyStream,
    segments: segmentLengths,
    ending: fc.constantFrom('close' as const, 'close' as const, 'reset' as const),
  })
  .map(({ stream, ...rest }) => ({ ...EMPTY_CASE, ...stream, ...rest, protocol: 'TCP' }));

const silent: fc.Arbitrary<DnsCase> = fc
  .oneof(overUdp, overTcp)
  .map((each) => ({ ...each, ending: 'silence' }));

const runner = dnsRunner({
  ...NO_ROUTE,
  nameServers() {
    throw new Error("the system's name servers were to be asked");
  },
});

const checks = new Map<string, CheckOf<'DNS'>>();
function checkFor({ port }: DnsLane, { type, protocol }: DnsCase): CheckOf<'DNS'> {
  const key = `${port} ${type} ${protocol}`;
  const known = checks.get(key);
  if (known !== undefined) return known;
  const request = { query: ASKED_NAME, recordType: type, nameServer: '127.0.0.1', port, protocol };
  const made = checkOf('DNS', { request });
  checks.set(key, made);
  return made;
}

/** DNS results have no body. */
const NO_ROOM = new SharedBodyMemory(0).open(false);

async function probed(lane: DnsLane, dnsCase: DnsCase): Promise<string> {
  const isSilent = dnsCase.ending === 'silence';
  lane.serve(dnsCase);
  const context = makeContext({ deadlineInMs: isSilent ? SHORT_DEADLINE_MS : DEADLINE_MS });
  const { failure, detail } = await runner.probe(checkFor(lane, dnsCase), context, NO_ROOM);
  const { dnsCheckResult } = expectOutcome(failure, detail, context, [
    ...FAILURES,
    ...(isSilent ? (['DNS_TIMEOUT'] as const) : []),
  ]);
  const result = dnsDetail.parse(dnsCheckResult);
  expect(result.response === null).toBe(failure !== null);
  if (result.response !== null) {
    expect(result.response.text).toMatch(/^[\t\n\x20-\x7e]*$/);
    return result.response.responseCode.replace(/\d+/, '');
  }
  return failure?.code ?? 'nothing';
}

/** The agent's own lookups read the same answers, for addresses. */
async function lookedUp(lane: DnsLane, dnsCase: DnsCase): Promise<string> {
  lane.serve(dnsCase);
  const context = makeContext({ deadlineInMs: DEADLINE_MS });
  const { port } = lane;
  const servers = { servers: [{ address: '127.0.0.1', port }], timeoutMs: DEADLINE_MS } as const;
  const how = { ...context, protocol: dnsCase.protocol, authenticData: false };
  const result = await askForAddresses(
    [`${ASKED_NAME}.`],
    4,
    { ...servers, servers: [servers.servers[0]], attempts: 1 },
    how,
  );
  if (result.kind === 'found') return 'found';
  expect(result.kind).toBe('missed');
  expect(result.failure.code).toMatch(/^DNS_(?!TIMEOUT)/);
  return result.failure.code;
}

const bytesOf = ({ datagrams, stream }: DnsCase): readonly Buffer[] => [...datagrams, stream];

it('any DNS answer over UDP gives a valid result', { timeout: TIMEOUT_MS }, async () => {
  await withDnsLanes(LANES, (lanes) =>
    runCampaign({
      name: 'DNS answers over UDP',
      cases: 20_000,
      atOnce: LANES,
      fixed: fixedCases,
      arbitrary: overUdp,
      bytesOf,
      corpus: 'dns',
      run: (dnsCase, lane) => probed(laneOf(lanes, lane), dnsCase),
      mustSee: ['NOERROR', 'NXDOMAIN', 'FORMERR', 'DNS_MALFORMED'],
    }),
  );
});

it('any DNS answer over TCP gives a valid result', { timeout: TIMEOUT_MS }, async () => {
  await withDnsLanes(LANES, (lanes) =>
    runCampaign({
      name: 'DNS answers over TCP',
      cases: 8000,
      atOnce: LANES,
      fixed: [],
      arbitrary: overTcp,
      bytesOf,
      corpus: 'dns',
      run: (dnsCase, lane) => probed(laneOf(lanes, lane), dnsCase),
      mustSee: ['NOERROR', 'DNS_MALFORMED', 'DNS_UNREACHABLE'],
    }),
  );
});

it('any DNS answer followed by silence gives a valid result', { timeout: TIMEOUT_MS }, async () => {
  await withDnsLanes(LANES * 4, (lanes) =>
    runCampaign({
      name: 'DNS answers, then silence',
      cases: 2000,
      atOnce: LANES * 4,
      fixed: [],
      arbitrary: silent,
      bytesOf,
      corpus: 'dns',
      run: (dnsCase, lane) => probed(laneOf(lanes, lane), dnsCase),
      mustSee: ['NOERROR', 'DNS_TIMEOUT', 'DNS_MALFORMED'],
    }),
  );
});

it("any DNS answer to the agent's own lookups is read without a fault", {
  timeout: TIMEOUT_MS,
}, async () => {
  await withDnsLanes(LANES, (lanes) =>
    runCampaign({
      name: "DNS answers to the agent's own look-ups",
      cases: 4000,
      atOnce: LANES,
      fixed: fixedCases.filter(({ ending }) => ending !== 'silence'),
      arbitrary: overUdp.map((each): DnsCase => ({ ...each, type: 'A' })),
      bytesOf,
      corpus: 'dns',
      run: (dnsCase, lane) => lookedUp(laneOf(lanes, lane), dnsCase),
      mustSee: ['found', 'DNS_NXDOMAIN', 'DNS_MALFORMED', 'DNS_NO_ADDRESS'],
    }),
  );
});

it('any DNS message is read without a fault by every reader', { timeout: TIMEOUT_MS }, async () => {
  const queries = new Map(
    ASKED_TYPES.map((type) => [
      type,
      makeQuery(
        { name: `${ASKED_NAME}.`, type: TYPE_NUMBERS[type] },
        { edns: true, authenticData: false },
      ),
    ]),
  );
  await runCampaign({
    name: 'DNS messages, read in every way',
    cases: 20_000,
    atOnce: 16,
    fixed: corpusMessages.map(({ bytes }) => ({ type: 'A' as const, bytes })),
    arbitrary: anyMessage,
    bytesOf: ({ bytes }) => [bytes],
    corpus: 'dns',
    run({ type, bytes }) {
      const query = queries.get(type);
      if (query === undefined) throw new Error('no query');
      const mine = withId(bytes, query.id);
      matchStreamedResponse(mine, query);
      const judged = matchResponse(mine, query);
      const whole = decodeMessage(mine);
      if (!whole.ok) {
        expect(whole.problem).not.toBe('');
        return judged.kind;
      }
      expect(decodeHeader(mine).ok).toBe(true);
      const message = whole.value;
      for (const family of [4, 6] as const) addressesIn(message, `${ASKED_NAME}.`, family);
      const shown = shownPartOf(message).message;
      const facts = { server: { host: 'x', address: 'x', port: 53 }, durationMs: 1, leftOut: 0 };
      expect(digText(shown, { ...facts, protocol: 'UDP' })).toMatch(/^[\t\n\x20-\x7e]*$/);
      JSON.stringify(jsonAnswerOf(shown));
      for (const { name, data } of [...message.answers, ...message.additionals]) {
        expect(name.endsWith('.')).toBe(true);
        expect(data).toMatch(/^[\x20-\x7e]*$/);
      }
      return judged.kind;
    },
    mustSee: ['answer', 'truncated', 'unrelated', 'malformed'],
  });
});

it('valid DNS answers are read unchanged', { timeout: TIMEOUT_MS }, async () => {
  await runCampaign({
    name: 'honest DNS answers are read as they are',
    cases: 2000,
    atOnce: 16,
    fixed: [],
    arbitrary: honestMessage,
    bytesOf: ({ bytes }) => [bytes],
    corpus: 'dns',
    run({ bytes, records, rcode }) {
      const whole = decodeMessage(bytes);
      if (!whole.ok) throw new Error(whole.problem);
      expect(whole.value).toMatchObject({ rcode, extraBytes: 0 });
      expect(whole.value.answers).toHaveLength(records);
      return 'read';
    },
    mustSee: ['read'],
  });
});

it('a DNS stream gives the same messages however its bytes are split', {
  timeout: TIMEOUT_MS,
}, async () => {
  await runCampaign({
    name: 'DNS streams come to the same messages however they are cut',
    cases: 5000,
    atOnce: 16,
    fixed: corpusStreams.map(({ bytes }) => ({ bytes, segments: new Array<number>(60).fill(1) })),
    arbitrary: fc.record({
      bytes: anyStream.map(({ stream }) => stream),
      segments: segmentLengths,
    }),
    bytesOf: ({ bytes }) => [bytes],
    corpus: 'dns',
    run({ bytes, segments }) {
      const whole = messagesIn([withIds(bytes, 1)]);
      expect(messagesIn(segmentsOf(withIds(bytes, 1), segments))).toEqual(whole);
      return whole.length === 0 ? 'none' : 'some';
    },
    mustSee: ['none', 'some'],
  });
});

function messagesIn(segments: readonly Buffer[]): readonly string[] {
  const stream = new StreamFrames();
  const messages: string[] = [];
  for (const segment of segments) {
    stream.add(segment);
    for (let next = stream.next(); next !== null; next = stream.next()) {
      messages.push(next.toString('latin1'));
    }
  }
  return messages;
}

function laneOf(lanes: readonly DnsLane[], index: number): DnsLane {
  const lane = lanes[index];
  if (lane === undefined) throw new Error(`there is no lane ${index}`);
  return lane;
}

/** As many records as fit into 64 KiB, of the kinds that cost a reader or a result the most. */
function largestMessages(): readonly Buffer[] {
  const question = Buffer.concat([wireName('example', 'com'), u16(1, 1)]);
  const record = (type: number, rdata: Buffer): Buffer =>
    Buffer.concat([Buffer.from([0]), u16(type, 1, 0, 60, rdata.length), rdata]);
  const manyOf = (one: Buffer, first: Buffer = NOTHING): Buffer => {
    const honest = honestAnswer('A').subarray(0, 2);
    const room = 65_535 - 12 - question.length - first.length;
    const count = Math.floor(room / one.length);
    const extra = first.length === 0 ? 0 : 1;
    const head = Buffer.concat([honest, u16(0x8180, 1, count + extra, 0, 0)]);
    return Buffer.concat([head, question, first, ...new Array<Buffer>(count).fill(one)]);
  };
  const longName = wireName(...new Array<Buffer>(3).fill(Buffer.alloc(63, 0)), Buffer.alloc(60, 0));
  return [
    manyOf(record(62_347, NOTHING)),
    manyOf(record(TYPE_NUMBERS.A, Buffer.from([192, 0, 2, 1]))),
    manyOf(record(TYPE_NUMBERS.TXT, Buffer.concat([Buffer.from([255]), Buffer.alloc(255, 7)]))),
    manyOf(record(TYPE_NUMBERS.TXT, Buffer.alloc(60_000))),
    manyOf(
      record(TYPE_NUMBERS.CNAME, u16(0xc01d)),
      Buffer.concat([longName, u16(5, 1, 0, 60, 1), Buffer.from([0])]),
    ),
    manyOf(Buffer.concat([u16(0xc00c), u16(5, 1, 0, 60, 2), u16(0xc00c)])),
  ];
}
