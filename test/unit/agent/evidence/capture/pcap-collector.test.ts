import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PcapCollector } from '../../../../../src/agent/evidence/capture/pcap-collector.ts';

const HEADER_BYTES = 24;

interface Form {
  readonly magic: number;
  readonly isLittle: boolean;
}

const forms = fc.record({
  magic: fc.constantFrom(0xa1b2c3d4, 0xa1b23c4d),
  isLittle: fc.boolean(),
});
const LITTLE: Form = { magic: 0xa1b2c3d4, isLittle: true };
const packetLists = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 20 });

describe('A capture that arrives in pieces', () => {
  it('is complete, however it is segmented', () => {
    const cuts = fc.array(fc.nat(5000), { maxLength: 30 });
    fc.assert(
      fc.property(forms, packetLists, cuts, (form, packets, at) => {
        const file = pcap(form, packets);
        const collector = new PcapCollector(1_000_000);
        for (const piece of cut(file, at)) expect(collector.write(piece)).toBe('more');
        expect(collector.bytes.equals(file)).toBe(true);
        expect(collector).toMatchObject({
          packets: packets.length,
          truncated: false,
          problem: null,
        });
      }),
    );
  });

  it('has only whole records, wherever it ends', () => {
    fc.assert(
      fc.property(forms, packetLists, fc.nat(5000), (form, packets, endsAt) => {
        const file = pcap(form, packets);
        const collector = new PcapCollector(1_000_000);
        collector.write(file.subarray(0, endsAt));
        const { bytes, packets: count } = collector;
        expect(bytes.equals(wholeBefore(form, packets, endsAt))).toBe(true);
        if (bytes.length > 0) expect(bytes.equals(pcap(form, packets.slice(0, count)))).toBe(true);
      }),
    );
  });

  it('is never longer than its limit, and has all records that fit', () => {
    const rooms = fc.integer({ min: 0, max: 3000 });
    const cuts = fc.array(fc.nat(5000), { maxLength: 30 });
    fc.assert(
      fc.property(forms, packetLists, rooms, cuts, (form, packets, maxBytes, at) => {
        const file = pcap(form, packets);
        const collector = new PcapCollector(maxBytes);
        const answers = cut(file, at).map((piece) => collector.write(piece));
        expect(collector.bytes.equals(wholeBefore(form, packets, maxBytes))).toBe(true);
        const isFull = file.length > maxBytes;
        expect(collector.truncated).toBe(isFull);
        expect(answers.includes('enough')).toBe(isFull);
      }),
    );
  });

  it('accepts nothing once it was full, even what would fit', () => {
    const collector = new PcapCollector(HEADER_BYTES + 20);
    const file = pcap(LITTLE, [new Uint8Array(100)]);
    expect(collector.write(file)).toBe('enough');
    expect(collector.write(new Uint8Array(1))).toBe('enough');
    expect(collector).toMatchObject({ packets: 0, truncated: true, problem: null });
    expect(collector.bytes.equals(file.subarray(0, HEADER_BYTES))).toBe(true);
  });

  it('may have large packets', () => {
    const packets = Array.from({ length: 100 }, () => new Uint8Array(65_400).fill(7));
    const file = pcap(LITTLE, packets);
    const collector = new PcapCollector(8 * 1024 * 1024);
    for (let at = 0; at < file.length; at += 65_536) {
      collector.write(file.subarray(at, at + 65_536));
    }
    expect(collector.packets).toBe(100);
    expect(collector.bytes.equals(file)).toBe(true);
  });

  it('that is invalid is reported, and retains the records before a broken one', () => {
    const text = new PcapCollector(1000);
    expect(text.write(Buffer.from('tcpdump: this is no capture'))).toBe('enough');
    expect(text.problem).toBe('the output is not a packet capture');
    expect(text.bytes).toHaveLength(0);

    const good = pcap(LITTLE, [new Uint8Array(10)]);
    const broken = new PcapCollector(1_000_000);
    expect(broken.write(Buffer.concat([good, Buffer.alloc(16, 0xff)]))).toBe('enough');
    expect(broken.problem).toBe('packet 2 of the capture is broken');
    expect(broken.bytes.equals(good)).toBe(true);
  });
});

function pcap({ magic, isLittle }: Form, packets: readonly Uint8Array[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  if (isLittle) header.writeUInt32LE(magic);
  else header.writeUInt32BE(magic);
  return Buffer.concat([header, ...packets.flatMap((packet) => record(packet, isLittle))]);
}

function record(packet: Uint8Array, isLittle: boolean): Buffer[] {
  const header = Buffer.alloc(16);
  for (const offset of [8, 12]) {
    if (isLittle) header.writeUInt32LE(packet.length, offset);
    else header.writeUInt32BE(packet.length, offset);
  }
  return [header, Buffer.from(packet)];
}

/** The longest file of the first packets within the limit. */
function wholeBefore(form: Form, packets: readonly Uint8Array[], bytes: number): Buffer {
  if (bytes < HEADER_BYTES) return Buffer.alloc(0);
  const counts = Array.from({ length: packets.length + 1 }, (_, count) => count);
  const files = counts.map((count) => pcap(form, packets.slice(0, count)));
  return files.filter((file) => file.length <= bytes).at(-1) ?? Buffer.alloc(0);
}

function cut(file: Buffer, at: readonly number[]): readonly Buffer[] {
  const places = [0, ...at.filter((place) => place < file.length), file.length];
  places.sort((one, other) => one - other);
  return places.slice(1).map((place, index) => file.subarray(places[index], place));
}
