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

/** The meaning of each field, after the record types that have it. */
export const DNS_FIELD_TEXTS: Readonly<Record<DnsNumberField | DnsTextField, string>> = {
  serial: 'SOA: the version of the zone.',
  refresh: 'SOA: seconds until secondary servers ask for changes.',
  retry: 'SOA: seconds until they ask again after a failure.',
  expire: 'SOA: seconds after which secondary servers give up the zone.',
  minimum: 'SOA: how many seconds a negative answer may be cached.',
  preference: 'MX: the rank of the server, the lowest first.',
  priority: 'SRV, HTTPS: the rank of the target, the lowest first.',
  weight: 'SRV: the relative weight among targets of the same priority.',
  port: 'SRV: the port of the target.',
  flags: 'CAA, DNSKEY: the flags as a number.',
  keyTag: 'DS: the tag of the key.',
  algorithm: 'DS, DNSKEY: the number of the algorithm of the key.',
  digestType: 'DS: the number of the algorithm of the digest.',
  protocol: 'DNSKEY: the protocol, always 3.',
  usage: 'TLSA: what the certificate is used for, as a number.',
  selector: 'TLSA: which part of the certificate is compared, as a number.',
  matchingType: 'TLSA: how it is compared, as a number.',
  mname: 'SOA: the primary name server.',
  rname: 'SOA: the mailbox of the person responsible, with a dot instead of the @.',
  exchange: 'MX: the name of the mail server.',
  target: 'SRV, HTTPS: the name of the target.',
  tag: 'CAA: the name of the property.',
  value: 'CAA: the value of the property.',
  digest: 'DS: the digest in hexadecimal digits.',
  publicKey: 'DNSKEY: the public key in base64.',
  certificateData: 'TLSA: the compared data in hexadecimal digits.',
};

export type DnsNumberField = (typeof DNS_NUMBER_FIELDS)[number];
export type DnsTextField = (typeof DNS_TEXT_FIELDS)[number];
