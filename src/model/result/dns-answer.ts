/** JSON_ANSWER of a DNS check: src/model/README.md, "DNS: `request`". */
export interface DnsAnswer {
  readonly Status: number;
  /** The flags of the header. `AA` and `Authority` are absent in results of older agents. */
  readonly AA?: boolean;
  readonly TC: boolean;
  readonly RD: boolean;
  readonly RA: boolean;
  readonly AD: boolean;
  readonly CD: boolean;
  readonly Question: readonly { readonly name: string; readonly type: string }[];
  readonly Answer: readonly DnsAnswerRecord[];
  readonly Authority?: readonly DnsAnswerRecord[];
}

export type DnsAnswerRecord = {
  readonly name: string;
  readonly type: string;
  readonly TTL: number;
  readonly data: string;
} & DnsRecordFields;

/** The parts of a record's data by name; which of them a record has depends on its type. */
export type DnsRecordFields = { readonly [Name in DnsNumberField]?: number } & {
  readonly [Name in DnsTextField]?: string;
};

/** Unsigned, of 32 bits at most. */
export const DNS_NUMBER_FIELDS = [
  // SOA
  'serial',
  'refresh',
  'retry',
  'expire',
  'minimum',
  // MX
  'preference',
  // SRV, and HTTPS without the last two
  'priority',
  'weight',
  'port',
  // CAA, DNSKEY
  'flags',
  // DS, DNSKEY
  'keyTag',
  'algorithm',
  'digestType',
  'protocol',
  // TLSA
  'usage',
  'selector',
  'matchingType',
] as const;

export const DNS_TEXT_FIELDS = [
  // SOA
  'mname',
  'rname',
  // MX
  'exchange',
  // SRV, HTTPS
  'target',
  // CAA
  'tag',
  'value',
  // DS, DNSKEY, TLSA
  'digest',
  'publicKey',
  'certificateData',
] as const;

export type DnsNumberField = (typeof DNS_NUMBER_FIELDS)[number];
export type DnsTextField = (typeof DNS_TEXT_FIELDS)[number];
