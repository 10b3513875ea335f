import { text } from 'node:stream/consumers';
import { type MailServer, mailServer, type ReceivedMail } from './mail-server.ts';

/** A mail server that can withhold its answers to mails: a mail counts as received with the answer. */
export interface GatedMailServer extends MailServer {
  /** Mails that wait for an answer. */
  readonly held: number;
  /** From now on it answers no mail. */
  hold(): void;
  /** Answers those that wait, except where the client is gone, and all that come. */
  release(): void;
}

/** Closed when the test ends. */
export async function gatedMailServer(): Promise<GatedMailServer> {
  const mails: ReceivedMail[] = [];
  const goneSessions = new Set<string>();
  const waiting: { readonly sessionId: string; readonly answer: () => void }[] = [];
  let isHolding = false;
  const { port } = await mailServer({
    onClose: ({ id }) => void goneSessions.add(id),
    onData(stream, { id, envelope, user, secure }, callback) {
      void text(stream).then((source) => {
        const answer = (): void => {
          mails.push({
            from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
            to: envelope.rcptTo.map(({ address }) => address),
            source,
            user,
            isEncrypted: secure,
          });
          callback();
        };
        if (isHolding) waiting.push({ sessionId: id, answer });
        else answer();
      });
    },
  });
  return {
    port,
    mails,
    get held() {
      return waiting.filter(({ sessionId }) => !goneSessions.has(sessionId)).length;
    },
    hold() {
      isHolding = true;
    },
    release() {
      isHolding = false;
      for (const { sessionId, answer } of waiting.splice(0)) {
        if (!goneSessions.has(sessionId)) answer();
      }
    },
  };
}
