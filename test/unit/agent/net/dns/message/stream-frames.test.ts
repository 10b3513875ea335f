import fc from 'fast-check';
import { expect, it } from 'vitest';
import { StreamFrames } from '../../../../../../src/agent/net/dns/message/stream-frames.ts';
import { caseCount } from '../../../../../support/nightly.ts';
import { framed } from '../../../../../support/servers/dns-responder.ts';

it('messages are read from a stream however it is segmented', () => {
  const messages = fc.array(fc.uint8Array({ maxLength: 900 }), { maxLength: 5 });
  fc.assert(
    fc.property(messages, fc.infiniteStream(fc.integer({ min: 1, max: 700 })), (sent, sizes) => {
      const stream = Buffer.concat(sent.map((message) => framed(Buffer.from(message))));
      const frames = new StreamFrames();
      const received: Buffer[] = [];
      for (let at = 0; at < stream.length; ) {
        const size = sizes.next().value;
        frames.add(stream.subarray(at, at + size));
        at += size;
        for (let next = frames.next(); next !== null; next = frames.next()) received.push(next);
      }
      expect(received).toEqual(sent.map((message) => Buffer.from(message)));
      expect(frames.isEmpty).toBe(true);
    }),
    { numRuns: caseCount(200) },
  );
});

it('the progress of an incomplete message is reported', () => {
  const frames = new StreamFrames();
  frames.add(Buffer.from([0x01]));
  expect([frames.next(), frames.progress()]).toEqual([null, '1 bytes arrived']);
  frames.add(Buffer.from([0x00, 1, 2]));
  expect([frames.next(), frames.progress()]).toEqual([null, '2 of 256 bytes arrived']);
});

it('the longest message is read byte by byte', () => {
  const frames = new StreamFrames();
  const message = Buffer.alloc(65_535, 7);
  for (const byte of framed(message)) frames.add(Buffer.from([byte]));
  expect(frames.next()).toEqual(message);
});
