import type { Socket } from 'node:net';
import {
  type ExchangeFailed,
  exchangeFailed,
  type ServerAddress,
  serverText,
} from './exchange-failures.ts';
import { type MatchedResponse, matchStreamedResponse, type Query } from './message/query.ts';
import { StreamFrames } from './message/stream-frames.ts';

/** Maximum number of unrelated messages to skip; after one more the exchange fails. */
const MAX_SKIPPED = 4;

export type StreamExchange = Extract<MatchedResponse, { kind: 'answer' }> | ExchangeFailed;

/** A message with the two octets of length before it (RFC 1035 4.2.2). */
export function framedMessage(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/**
 * Reads messages from a stream until one answers the query, one is malformed, more than MAX_SKIPPED
 * answer other queries, or the server closes the stream.
 *
 * @returns a function that describes what has arrived, for messages about a time-out
 */
export function readResponse(
  socket: Socket,
  query: Query,
  { server, over }: { readonly server: ServerAddress; readonly over: 'TCP' | 'TLS' },
  settle: (end: StreamExchange) => void,
): Pick<StreamFrames, 'progress'> {
  const frames = new StreamFrames();
  let skipped = 0;

  const malformed = (bytes: Buffer, problem: string): ExchangeFailed => {
    const what = `${serverText(server)} answered over ${over} with ${bytes.length} bytes that are not a DNS answer`;
    return exchangeFailed('DNS_MALFORMED', `${what}: ${problem}`);
  };

  socket.on('data', (chunk) => {
    frames.add(chunk);
    for (let bytes = frames.next(); bytes !== null; bytes = frames.next()) {
      const judged = matchStreamedResponse(bytes, query);
      if (judged.kind === 'answer') settle(judged);
      else if (judged.kind === 'malformed') settle(malformed(bytes, judged.problem));
      else skipped += 1;
      if (judged.kind !== 'unrelated') return;
      if (skipped > MAX_SKIPPED) {
        settle(malformed(bytes, 'it kept sending messages that answer another question'));
        return;
      }
    }
  });
  socket.on('end', () => {
    const who = `${serverText(server)} closed the ${over} connection`;
    settle(
      frames.isEmpty
        ? exchangeFailed('DNS_UNREACHABLE', `${who} without an answer`)
        : exchangeFailed(
            'DNS_MALFORMED',
            `${who} in the middle of an answer (${frames.progress()})`,
          ),
    );
  });
  return frames;
}
