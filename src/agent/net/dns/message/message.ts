import type { DnsRecordFields } from '../../../../model/result/details/dns-answer.ts';
import { TYPE_NUMBERS } from './parameters.ts';
import { readRdata } from './rdata.ts';
import { WireReader } from './wire-reader.ts';

interface DnsQuestion {
  /** Presentation form with the trailing dot. */
  readonly name: string;
  readonly type: number;
  readonly class: number;
}

export interface DnsRecord {
  readonly name: string;
  readonly type: number;
  readonly class: number;
  readonly ttlSeconds: number;
  /** Presentation form; see rdata.ts. */
  readonly data: string;
  /** The parts of the data by name; empty if the type has none. */
  readonly fields: DnsRecordFields;
  /** The unparsed data; a view into the message. */
  readonly rdata: Buffer;
}

export interface DnsHeader {
  readonly id: number;
  readonly isResponse: boolean;
  readonly opcode: number;
  readonly authoritative: boolean;
  readonly truncated: boolean;
  readonly recursionDesired: boolean;
  readonly recursionAvailable: boolean;
  readonly authenticData: boolean;
  readonly checkingDisabled: boolean;
  /** The four bits of the header; the `rcode` of a message adds the eight bits of EDNS. */
  readonly headerRcode: number;
  readonly questions: readonly DnsQuestion[];
}

export interface DnsMessage extends DnsHeader {
  readonly rcode: number;
  readonly answers: readonly DnsRecord[];
  readonly authorities: readonly DnsRecord[];
  /** Without the OPT pseudo-record, which is `edns`. */
  readonly additionals: readonly DnsRecord[];
  readonly edns: {
    readonly version: number;
    readonly udpPayloadBytes: number;
    readonly dnssecOk: boolean;
  } | null;
  /** Octets of the whole message, and octets behind its last record. */
  readonly messageBytes: number;
  readonly extraBytes: number;
}

export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

/** Header and question: the only reliable parts of a truncated message (RFC 2181 9). */
export function decodeHeader(bytes: Buffer): Decoded<DnsHeader> {
  const reader = new WireReader(bytes);
  const { header } = readHeader(reader);
  return reader.problem === null
    ? { ok: true, value: header }
    : { ok: false, problem: reader.problem };
}

/**
 * Reads a whole message. Does not use the library's reader, which prints names without escapes,
 * ignores RDLENGTH, does not support SVCB, and takes 0.2 s for a message of chained compression
 * pointers. `problem` is a clause about what is wrong with the bytes.
 */
export function decodeMessage(bytes: Buffer): Decoded<DnsMessage> {
  const reader = new WireReader(bytes);
  const { header, counts } = readHeader(reader);
  const answers = readRecords(reader, counts.answers);
  const authorities = readRecords(reader, counts.authorities);
  const all = readRecords(reader, counts.additionals);
  const options = all.filter(({ type }) => type === TYPE_NUMBERS.OPT);
  if (options.length > 1) reader.fail('it has more than one OPT record');
  if (reader.problem !== null) return { ok: false, problem: reader.problem };
  const [opt] = options;
  const value: DnsMessage = {
    ...header,
    rcode: header.headerRcode + (opt === undefined ? 0 : (opt.ttlSeconds >>> 24) * 16),
    answers,
    authorities,
    additionals: all.filter((record) => record !== opt),
    edns: opt === undefined ? null : ednsOf(opt),
    messageBytes: bytes.length,
    extraBytes: reader.remaining,
  };
  return { ok: true, value };
}

/** RFC 6891 6.1.3: the TTL's bits are the upper response code, the version and the DO flag. */
function ednsOf(opt: DnsRecord): DnsMessage['edns'] {
  return {
    version: (opt.ttlSeconds >>> 16) & 0xff,
    udpPayloadBytes: opt.class,
    dnssecOk: (opt.ttlSeconds & 0x8000) !== 0,
  };
}

function readHeader(reader: WireReader): {
  header: DnsHeader;
  counts: { answers: number; authorities: number; additionals: number };
} {
  const id = reader.u16();
  const flags = reader.u16();
  const questionCount = reader.u16();
  const counts = { answers: reader.u16(), authorities: reader.u16(), additionals: reader.u16() };
  const questions: DnsQuestion[] = [];
  while (questions.length < questionCount && reader.problem === null) {
    questions.push({ name: reader.name(), type: reader.u16(), class: reader.u16() });
  }
  const header: DnsHeader = {
    id,
    isResponse: (flags & 0x8000) !== 0,
    opcode: (flags >> 11) & 0xf,
    authoritative: (flags & 0x0400) !== 0,
    truncated: (flags & 0x0200) !== 0,
    recursionDesired: (flags & 0x0100) !== 0,
    recursionAvailable: (flags & 0x0080) !== 0,
    authenticData: (flags & 0x0020) !== 0,
    checkingDisabled: (flags & 0x0010) !== 0,
    headerRcode: flags & 0xf,
    questions,
  };
  return { header, counts };
}

/** The sender claims the count: the loop ends with the bytes, not with the count. */
function readRecords(reader: WireReader, count: number): DnsRecord[] {
  const records: DnsRecord[] = [];
  while (records.length < count && reader.problem === null) {
    const name = reader.name();
    const type = reader.u16();
    const rrClass = reader.u16();
    const ttlSeconds = reader.u32();
    const length = reader.u16();
    const rdata = reader.peek(length);
    const { data, fields } = reader.within(length, 'the data of a record', () =>
      readRdata(reader, type, rrClass),
    );
    records.push({ name, type, class: rrClass, ttlSeconds, data, fields, rdata });
  }
  return records;
}
