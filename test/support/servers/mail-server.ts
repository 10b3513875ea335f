import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  SMTPServer,
  type SMTPServerDataStream,
  type SMTPServerOptions,
  type SMTPServerSession,
} from 'smtp-server';
import { onTestFinished } from 'vitest';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Raw: head and body. */
  readonly source: string;
  readonly user: string | undefined;
  readonly isEncrypted: boolean;
}

export interface MailServer {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
}

/** A real SMTP server on loopback. Closed when the test ends. */
export async function mailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    disabledCommands: options.onAuth === undefined ? ['AUTH', 'STARTTLS'] : ['STARTTLS'],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    closeTimeout: 100,
    onData(stream, session, callback) {
      readMail(stream, session, (mail) => {
        mails.push(mail);
        callback();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  const { server: socket } = server;
  server.listen(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (socket.address() as AddressInfo).port, mails };
}

/** A sender that disconnects in the middle, such as a killed process, has sent no mail. */
export function readMail(
  stream: SMTPServerDataStream,
  { envelope, user, secure }: SMTPServerSession,
  onMail: (mail: ReceivedMail) => void,
): void {
  const take = (source: string): void =>
    onMail({
      from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
      to: envelope.rcptTo.map(({ address }) => address),
      source,
      user,
      isEncrypted: secure,
    });
  void text(stream).then(take, () => {});
}
