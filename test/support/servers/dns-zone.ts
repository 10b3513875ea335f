import type { Handler } from './dns-responder.ts';
import { type AnswerParts, type AskedQuestion, answerTo, type ZoneRecord } from './dns-wire.ts';

/** Answers by `NAME TYPE-NUMBER`; a name without any type is NXDOMAIN. */
export type Zone = Readonly<Record<string, AnswerParts | readonly ZoneRecord[]>>;

/** Answers like a correct recursive resolver that knows this zone. */
function zoneAnswer(zone: Zone, asked: AskedQuestion): Buffer {
  const name = asked.name.toLowerCase();
  const entry = zone[`${name} ${asked.type}`];
  if (entry === undefined) {
    const exists = Object.keys(zone).some((key) => key.startsWith(`${name} `));
    return answerTo(asked, { rcode: exists ? 0 : 3 });
  }
  return answerTo(asked, 'length' in entry ? { answers: entry } : entry);
}

export function servingZone(zone: Zone): Handler {
  return (asked, channel) => channel.send(zoneAnswer(zone, asked));
}
