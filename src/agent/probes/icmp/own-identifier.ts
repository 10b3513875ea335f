import { randomInt } from 'node:crypto';

/**
 * An identifier for echo requests on net-ping's raw sockets, 1..65535: never that of net-ping's own
 * session, which is made of our process's number, as it writes into packets that have it.
 */
export function ownIdentifier(): number {
  const identifier = randomInt(1, 0xffff);
  return identifier === process.pid % 0xffff ? 0xffff : identifier;
}
