import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
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
    onData(stream, { envelope, user, secure }, callback) {
      void text(stream).then((source) => {
        mails.push({
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          source,
          user,
          isEncrypted: secure,
        });
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
