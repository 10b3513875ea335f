import packet from 'dns-packet';
import { describe, expect, it } from 'vitest';
import {
  makeQuery,
  matchResponse,
  matchStreamedResponse,
} from '../../../../../../src/agent/net/dns/message/query.ts';
import {
  answerTo,
  readQuestion,
  TRUNCATED_RESPONSE,
} from '../../../../../support/servers/dns-wire.ts';

const query = makeQuery({ name: 'example.com.', type: 65 }, { edns: true, authenticData: false });
const asked = readQuestion(query.bytes, 'UDP');

describe('makeQuery', () => {
  it('asks one recursive question with EDNS and room for 1232 octets', () => {
    expect(packet.decode(query.bytes)).toMatchObject({
      type: 'query',
      id: query.id,
      flags: packet.RECURSION_DESIRED,
      questions: [{ name: 'example.com', type: 'UNKNOWN_65', class: 'IN' }],
      answers: [],
      additionals: [{ type: 'OPT', udpPayloadSize: 1232, ednsVersion: 0, flags: 0 }],
    });
  });

  it('omits EDNS and requests the AD bit if its options say so', () => {
    const bare = makeQuery({ name: '.', type: 6 }, { edns: false, authenticData: true });
    expect(packet.decode(bare.bytes)).toMatchObject({
      flags: packet.RECURSION_DESIRED | packet.AUTHENTIC_DATA,
      questions: [{ name: '.', type: 'SOA' }],
      additionals: [],
    });
  });

  it('uses unpredictable ids', () => {
    const ids = Array.from(
      { length: 50 },
      () => makeQuery({ name: 'a.', type: 1 }, { edns: false, authenticData: false }).id,
    );
    expect(new Set(ids).size).toBeGreaterThan(40);
  });
});

describe('matchResponse', () => {
  it.each([
    ['the answer', answerTo(asked), 'answer'],
    ['the answer in other letters', answerTo(asked, { name: 'eXample.COM' }), 'answer'],
    ['NXDOMAIN', answerTo(asked, { rcode: 3 }), 'answer'],
    ['a truncated answer', answerTo(asked, { flags: TRUNCATED_RESPONSE }), 'truncated'],
    ['FORMERR without the question', answerTo(asked, { rcode: 1, question: false }), 'answer'],
    ['REFUSED without the question', answerTo(asked, { rcode: 5, question: false }), 'answer'],
    ['NOERROR without the question', answerTo(asked, { question: false }), 'unrelated'],
    ['another id', answerTo(asked, { id: asked.id ^ 1 }), 'unrelated'],
    ['another name', answerTo(asked, { name: 'example.org' }), 'unrelated'],
    ['another type', answerTo(asked, { type: 1 }), 'unrelated'],
    ['the question itself', query.bytes, 'unrelated'],
    ['nothing', Buffer.alloc(0), 'unrelated'],
    ['the id alone', query.bytes.subarray(0, 2), 'malformed'],
    ['half an answer', answerTo(asked).subarray(0, 20), 'malformed'],
  ])('%s', (_what, bytes, kind) => {
    expect(matchResponse(bytes, query).kind).toBe(kind);
  });

  it('does not read the rest of a truncated answer', () => {
    const whole = answerTo(asked, {
      flags: TRUNCATED_RESPONSE,
      answers: [{ name: 'example.com', type: 'TXT', data: 'x'.repeat(200) }],
      edns: false,
    });
    expect(matchResponse(whole.subarray(0, whole.length - 50), query).kind).toBe('truncated');
  });

  it('accepts a truncated answer over TCP as it is', () => {
    const bytes = answerTo(asked, { flags: TRUNCATED_RESPONSE });
    expect(matchStreamedResponse(bytes, query)).toMatchObject({
      kind: 'answer',
      message: { truncated: true },
    });
  });
});
