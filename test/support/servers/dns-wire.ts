import packet, { type Answer, type RecordType } from 'dns-packet';

/** DNS messages for tests, made by another library than the code under test uses. */

export interface AskedQuestion {
  readonly id: number;
  readonly name: string;
  /** The type's number. */
  readonly type: number;
  readonly edns: boolean;
  readonly authenticData: boolean;
  readonly protocol: 'UDP' | 'TCP';
}

export function readQuestion(bytes: Buffer, protocol: AskedQuestion['protocol']): AskedQuestion {
  const query = packet.decode(bytes);
  const [question] = query.questions ?? [];
  if (question === undefined) throw new Error('a query without a question came');
  return {
    id: query.id ?? 0,
    name: question.name,
    type: bytes.readUInt16BE(12 + nameBytes(question.name)),
    edns: (query.additionals ?? []).some(({ type }) => type === 'OPT'),
    authenticData: ((query.flags ?? 0) & packet.AUTHENTIC_DATA) !== 0,
    protocol,
  };
}

function nameBytes(name: string): number {
  return name === '.' ? 1 : Buffer.byteLength(name) + 2;
}

/** A record of any type, from the library's data or from raw bytes. */
export type ZoneRecord = Answer | { name: string; type: number; ttl?: number; rdata: Buffer };

export interface AnswerParts {
  readonly id?: number;
  readonly name?: string;
  readonly type?: number;
  readonly rcode?: number;
  readonly flags?: number;
  readonly answers?: readonly ZoneRecord[];
  readonly authorities?: readonly ZoneRecord[];
  readonly additionals?: readonly ZoneRecord[];
  /** Whether to repeat the question, as required. */
  readonly question?: boolean;
  readonly edns?: boolean;
}

export const { RECURSION_DESIRED, TRUNCATED_RESPONSE, AUTHORITATIVE_ANSWER } = packet;

/** The answer to a question, with its id and question unless `parts` overrides them. */
export function answerTo(asked: AskedQuestion, parts: AnswerParts = {}): Buffer {
  const {
    flags = RECURSION_DESIRED | packet.RECURSION_AVAILABLE,
    rcode = 0,
    edns = asked.edns,
  } = parts;
  const opt: Answer = {
    type: 'OPT',
    name: '.',
    udpPayloadSize: 4096,
    extendedRcode: rcode >> 4,
    ednsVersion: 0,
    flags: 0,
    flag_do: false,
    options: [],
  };
  return packet.encode({
    type: 'response',
    id: parts.id ?? asked.id,
    flags: flags | (rcode & 0xf),
    questions:
      parts.question === false
        ? []
        : [{ name: parts.name ?? asked.name, type: libraryType(parts.type ?? asked.type) }],
    answers: (parts.answers ?? []).map(libraryRecord),
    authorities: (parts.authorities ?? []).map(libraryRecord),
    additionals: [...(parts.additionals ?? []).map(libraryRecord), ...(edns ? [opt] : [])],
  });
}

function libraryType(type: number): RecordType {
  return `UNKNOWN_${type}` as RecordType;
}

function libraryRecord(record: ZoneRecord): Answer {
  if (!('rdata' in record)) return record;
  const { name, type, ttl = 300, rdata } = record;
  return { name, type: libraryType(type), ttl, data: rdata } as Answer;
}

/** A name in wire format, label by label, so that labels may contain any bytes. */
export function wireName(...labels: readonly (string | Buffer)[]): Buffer {
  const parts = labels.map((label) => Buffer.from(label));
  const octets = parts.flatMap((label) => [Buffer.from([label.length]), label]);
  return Buffer.concat([...octets, Buffer.from([0])]);
}

export function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, index) => {
    bytes.writeUInt16BE(value, index * 2);
  });
  return bytes;
}

/** The RDATA of an HTTPS or SVCB record (RFC 9460 2.2). */
export function serviceBinding(
  priority: number,
  target: Buffer,
  parameters: readonly (readonly [key: number, value: Buffer])[],
): Buffer {
  const encoded = parameters.flatMap(([key, value]) => [u16(key, value.length), value]);
  return Buffer.concat([u16(priority), target, ...encoded]);
}
