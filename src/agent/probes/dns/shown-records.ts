import type { DnsMessage, DnsRecord } from '../../net/dns/message/message.ts';

/**
 * Characters of records that a response shows. 64 KiB of wire unfold to megabytes of text at
 * worst, which no result should carry; four times the wire's size is past every honest answer.
 */
const MAX_SHOWN_CHARS = 262_144;

export interface ShownMessage {
  readonly message: DnsMessage;
  /** Records of the message that are not in it. */
  readonly leftOut: number;
}

/** The message with as many of its records, in order, as fit into a result. */
export function shownPartOf(message: DnsMessage): ShownMessage {
  let left = MAX_SHOWN_CHARS;
  let leftOut = 0;
  const shown = (records: readonly DnsRecord[]): readonly DnsRecord[] =>
    records.filter(({ name, data }) => {
      left -= name.length + data.length;
      if (left < 0) leftOut += 1;
      return left >= 0;
    });
  const part = {
    ...message,
    answers: shown(message.answers),
    authorities: shown(message.authorities),
    additionals: shown(message.additionals),
  };
  return { message: part, leftOut };
}
