import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProbeEnd } from '../../../../../src/agent/evidence/traceroute/engine.ts';
import {
  TracerouteOutput,
  withLastHopRead,
} from '../../../../../src/agent/evidence/traceroute/output-parser.ts';

const REACHED = `traceroute to 10.80.4.2 (10.80.4.2), 30 hops max, 60 byte packets
 1  10.80.1.2  0.037 ms  0.006 ms  0.003 ms
 2  10.80.2.2  0.017 ms 10.80.2.6  0.006 ms *
 3  * * *
 4  10.80.4.2  12.5 ms  9.75 ms  1000.123 ms
`;
const PROHIBITED = `traceroute to fd80:4::2 (fd80:4::2), 30 hops max, 80 byte packets
 1  fd80:1::2  0.028 ms  0.014 ms  0.005 ms
 2  fd80:2::2  0.011 ms !X * fd80:2::3  0.022 ms !H
`;

describe('the output of traceroute', () => {
  it('is read hop by hop, with silent probes and several routers in one hop', () => {
    expect(read(REACHED)).toEqual([
      [on('10.80.1.2', 0.037), on('10.80.1.2', 0.006), on('10.80.1.2', 0.003)],
      [on('10.80.2.2', 0.017), on('10.80.2.6', 0.006), null],
      [null, null, null],
      [on('10.80.4.2', 12.5), on('10.80.4.2', 9.75), on('10.80.4.2', 1000.123)],
    ]);
  });

  it('is read with the marks of routers that refuse', () => {
    const [, second] = read(PROHIBITED, 6);
    const prohibited = { what: 'administratively prohibited', mark: '!X' };
    expect(second).toEqual([
      { address: 'fd80:2::2', rttMs: 0.011, meaning: prohibited },
      null,
      { address: 'fd80:2::3', rttMs: 0.022, meaning: { what: 'host', mark: '!H' } },
    ]);
  });

  it.for([
    ['!N', 'network', '!N'],
    ['!P', 'protocol', '!P'],
    ['!F-1400', 'fragmentation needed', '!F'],
    ['!S', 'source route failed', '!S'],
    ['!V', 'precedence violation', '!V'],
    ['!C', 'precedence cutoff', '!C'],
    ['!<10>', 'administratively prohibited', '!<10>'],
    ['!<12>', 'code 12', '!<12>'],
    ['!<12-3>', 'code 12', '!<12-3>'],
    ['!Q', 'another reason', '!Q'],
  ])('knows what the mark %s means', ([text, what, mark]) => {
    const [[end] = []] = read(` 1  10.0.0.1  1.0 ms ${text}\n`);
    expect(end?.meaning).toEqual({ what, mark });
  });

  it('ignores invalid marks', () => {
    const [[end] = []] = read(' 1  10.0.0.1  1.0 ms !<> !toolong !\u001b[2J\n');
    expect(end?.meaning).toBe('on the way');
  });

  it('takes a router’s address without the interface that it is seen through', () => {
    expect(read(' 1  fe80::1%eth0  1.000 ms\n', 6)).toEqual([[on('fe80::1', 1)]]);
  });

  it('is read the same in pieces of any size', () => {
    const whole = read(REACHED + PROHIBITED);
    for (const size of [1, 2, 3, 7, 64]) {
      const output = new TracerouteOutput(4);
      const text = REACHED + PROHIBITED;
      for (let at = 0; at < text.length; at += size) output.write(text.slice(at, at + size));
      output.end();
      expect(output.hops).toEqual(whole);
    }
  });

  it('yields nothing wrong, wherever it is cut', () => {
    const whole = read(REACHED).flat();
    for (let length = 0; length < REACHED.length; length += 1) {
      const output = new TracerouteOutput(4);
      output.write(REACHED.slice(0, length));
      output.end();
      const cut = output.hops.flat();
      expect(cut).toEqual(whole.slice(0, cut.length));
      expect(output.hops.every((ends) => ends.length > 0)).toBe(true);
    }
  });

  it.for<[string, string]>([
    ['nothing', ''],
    ['only a heading', 'traceroute to 10.0.0.1 (10.0.0.1), 30 hops max, 60 byte packets\n'],
    ['errors', 'connect: Network is unreachable\nsendto: Operation not permitted\n'],
    ['a first hop that is not 1', ' 2  10.0.0.1  1.0 ms\n'],
    ['a time without an address', ' 1  1.0 ms  2.0 ms\n'],
    ['an address without a time', ' 1  10.0.0.1\n'],
    ['an address that is none', ' 1  10.0.0.256  1.0 ms\n'],
    ['a time that is none', ' 1  10.0.0.1  NaN ms  -1.0 ms  1e9 ms  99999999 ms\n'],
    ['a time that is not said to be one', ' 1  10.0.0.1  1.0 s\n'],
  ])('yields no hop from %s', ([, text]) => {
    expect(read(text)).toEqual([]);
  });

  it('is limited in hops, probes per hop, word length and total length', () => {
    const lines = (count: number, line: string): string =>
      Array.from({ length: count }, (_, index) => ` ${index + 1}  ${line}\n`).join('');
    expect(read(lines(500, '10.0.0.1  1.0 ms'))).toHaveLength(30);
    expect(read(` 1  10.0.0.1${'  1.0 ms *'.repeat(100)}\n`)[0]).toHaveLength(3);
    expect(read(` 1 ${' '.repeat(40_000)} 10.0.0.1  1.0 ms\n`)).toEqual([]);
    const endless = `${'x'.repeat(1000)}\n 1  10.0.0.1  1.0 ms\n`;
    expect(read(endless)).toEqual([[on('10.0.0.1', 1)]]);
  });

  it('never yields more answers than probes', () => {
    const word = fc.constantFrom(
      '1',
      '2',
      '31',
      '*',
      'ms',
      '1.5',
      '10.0.0.1',
      '::1',
      '!H',
      '\n',
      '!',
    );
    const text = fc.array(fc.oneof(word, fc.string({ maxLength: 80 })), { maxLength: 60 });
    fc.assert(
      fc.property(text, (words) => {
        for (const ends of read(words.join(' '))) {
          expect(ends.length).toBeGreaterThan(0);
          expect(ends.length).toBeLessThanOrEqual(3);
        }
      }),
    );
  });
});

describe('the last line of an output', () => {
  const router = on('10.0.0.1', 1);
  const target = on('10.0.0.9', 2);
  const atDestination = { ...target, meaning: 'destination' };

  it('is the destination if the target answers, however the program ended', () => {
    for (const endedItself of [true, false]) {
      const hops = withLastHopRead([[router], [null, target, router]], '10.0.0.9', endedItself);
      expect(hops).toEqual([[router], [null, atDestination, router]]);
    }
  });

  it('is an unreachable port if another host answers without a mark and the program stops', () => {
    const refused = { ...router, meaning: { what: 'port', mark: null } };
    expect(withLastHopRead([[router], [router, null]], '10.0.0.9', true)).toEqual([
      [router],
      [refused, null],
    ]);
    expect(withLastHopRead([[router]], '10.0.0.9', false)).toEqual([[router]]);
  });

  it('is neither of the two if the route goes on', () => {
    const silent = [null, null, null];
    expect(withLastHopRead([[target], silent], '10.0.0.9', true)).toEqual([[target], silent]);
    const full = Array.from({ length: 30 }, () => [router]);
    expect(withLastHopRead(full, '10.0.0.9', true)).toEqual(full);
    expect(withLastHopRead([], '10.0.0.9', true)).toEqual([]);
  });
});

function on(address: string, rttMs: number): ProbeEnd {
  return { address, rttMs, meaning: 'on the way' };
}

function read(text: string, family: 4 | 6 = 4): readonly (readonly ProbeEnd[])[] {
  const output = new TracerouteOutput(family);
  output.write(text);
  output.end();
  return output.hops;
}
