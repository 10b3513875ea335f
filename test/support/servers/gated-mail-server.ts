import { type MailServer, mailServer, type ReceivedMail, readMail } from './mail-server.ts';

/** A mail server that can withhold its answers to mails: a mail counts as received with the answer. */
export interface GatedMailServer extends MailServer {
  /** Mails that wait for an answer. */
  readonly held: number;
  /** From now on it answers no mail. */
  hold(): void;
  /** Answers the waiting mails, except of clients that are gone, and all later ones. */
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
    onData(stream, session, callback) {
      readMail(stream, session, (mail) => {
        const answer = (): void => {
          mails.push(mail);
          callback();
        };
        if (isHolding) waiting.push({ sessionId: session.id, answer });
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
