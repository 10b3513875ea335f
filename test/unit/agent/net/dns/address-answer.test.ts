import { expect, it } from 'vitest';
import { addressesIn } from '../../../../../src/agent/net/dns/address-answer.ts';
import { decodeMessage } from '../../../../../src/agent/net/dns/message/message.ts';
import { answerTo, type ZoneRecord } from '../../../../support/servers/dns-wire.ts';

function addresses(answers: readonly ZoneRecord[], family: 4 | 6 = 4) {
  const asked = {
    id: 1,
    name: 'www.example.com',
    type: 1,
    edns: false,
    authenticData: false,
    protocol: 'UDP' as const,
  };
  const read = decodeMessage(answerTo(asked, { answers }));
  if (!read.ok) throw new Error(read.problem);
  return addressesIn(read.value, 'www.example.com.', family);
}

const alias = (name: string, data: string): ZoneRecord => ({ name, type: 'CNAME', data });
const address = (name: string, data: string): ZoneRecord => ({ name, type: 'A', data });

it('an answer yields the addresses of the name in its own order', () => {
  const answers = [
    address('WWW.example.com', '192.0.2.2'),
    address('www.example.com', '192.0.2.1'),
  ];
  expect(addresses(answers)).toEqual({
    addresses: ['192.0.2.2', '192.0.2.1'],
    finalName: 'www.example.com.',
  });
});

it('aliases are followed in any order of the records', () => {
  const answers = [
    address('edge.example.net', '192.0.2.1'),
    alias('CDN.example.net', 'edge.example.net'),
    alias('www.example.com', 'cdn.example.net'),
  ];
  expect(addresses(answers)).toEqual({ addresses: ['192.0.2.1'], finalName: 'edge.example.net.' });
});

it('records of other names are ignored', () => {
  expect(addresses([address('evil.example', '192.0.2.66')]).addresses).toEqual([]);
});

it('addresses of the other family are ignored', () => {
  expect(addresses([address('www.example.com', '192.0.2.1')], 6).addresses).toEqual([]);
});

it('a loop of aliases ends', () => {
  const answers = [alias('www.example.com', 'b.example'), alias('b.example', 'www.example.com')];
  expect(addresses(answers).addresses).toEqual([]);
});
