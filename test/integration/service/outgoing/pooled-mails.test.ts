import { describe, expect, it, onTestFinished } from 'vitest';
import { createMailer, type Mailer } from '../../../../src/service/outgoing/mailer.ts';
import { type MailServer, mailServer } from '../../../support/servers/mail-server.ts';

const never = () => new AbortController().signal;

function mailerTo(
  { port }: Pick<MailServer, 'port'>,
  maxConnections: number,
  auth: Parameters<typeof createMailer>[0]['auth'] = null,
): Mailer {
  const mailer = createMailer(
    {
      host: '127.0.0.1',
      port,
      secure: false,
      auth,
      requireTls: false,
      from: { name: 'Status', address: 'status@example.com' },
    },
    { maxConnections },
  );
  onTestFinished(() => mailer.close());
  return mailer;
}

const mailTo = (name: string) => ({
  deliveryId: name,
  to: `${name}@example.com`,
  subject: `For ${name}`,
  text: 'Text',
  html: '<p>Text</p>',
});

describe('mails over connections that are used again', () => {
  it('need few connections, and arrive once each', async () => {
    let connections = 0;
    const server = await mailServer({
      onConnect(_session, callback) {
        connections += 1;
        callback();
      },
    });
    const { send } = mailerTo(server, 3);
    const names = Array.from({ length: 60 }, (_, index) => `reader-${index}`);
    const sent = await Promise.all(names.map((name) => send(mailTo(name), never())));
    expect(sent.every(({ ok }) => ok)).toBe(true);
    expect(server.mails).toHaveLength(names.length);
    const receivers = new Set(server.mails.flatMap(({ to }) => to));
    expect(receivers).toEqual(new Set(names.map((name) => `${name}@example.com`)));
    expect(connections).toBeLessThanOrEqual(3);
  });

  it('go on after one whose address the server refuses', async () => {
    const server = await mailServer({
      onRcptTo({ address }, _session, callback) {
        if (!address.startsWith('gone')) callback();
        else callback(Object.assign(new Error('no such mailbox'), { responseCode: 550 }));
      },
    });
    const { send } = mailerTo(server, 1);
    const outcomes = await Promise.all(
      ['ann', 'gone', 'bob'].map((name) => send(mailTo(name), never())),
    );
    expect(outcomes.map(({ ok, refusesAddress }) => [ok, refusesAddress])).toEqual([
      [true, false],
      [false, true],
      [true, false],
    ]);
    expect(outcomes[1]).toMatchObject({ status: 550 });
  });

  it('ends one that is aborted, and sends the others', async () => {
    const stop = new AbortController();
    const server = await mailServer({
      onRcptTo({ address }, _session, callback) {
        // Never answers.
        if (address.startsWith('slow')) stop.abort();
        else callback();
      },
    });
    const { send } = mailerTo(server, 1);
    const [slow, next] = await Promise.all([
      send(mailTo('slow'), stop.signal),
      send(mailTo('next'), never()),
    ]);
    expect(slow).toMatchObject({ ok: false, error: 'the mail server did not answer in time' });
    expect(next.ok).toBe(true);
    expect(server.mails.map(({ to }) => to)).toEqual([['next@example.com']]);
  });

  it.each([
    ['RCPT', 550, '5.1.1 no such user', true, true],
    ['RCPT', 550, 'no such user', true, true],
    ['RCPT', 450, '4.2.2 mailbox full', false, true],
    ['DATA', 552, '5.2.2 mailbox full', false, true],
    ['RCPT', 554, '5.7.1 relay access denied', false, false],
    ['RCPT', 530, 'authentication required', false, false],
    ['RCPT', 451, 'local error', false, false],
    ['RCPT', 421, 'shutting down', false, false],
    ['DATA', 451, '4.3.0 queue file write error', false, false],
    ['DATA', 554, '5.7.1 the client is on a block list', false, false],
    ['MAIL', 550, '5.1.8 no such sender', false, false],
    ['MAIL', 452, '4.3.1 disk full', false, false],
  ])(
    'take the answer to %s %i %s for a refusal of the address: %s, for a failure of the recipient: %s',
    async (command, responseCode, text, refusesAddress, isOfRecipient) => {
      const answer = (of: string, callback: (error?: Error) => void) =>
        command === of ? callback(Object.assign(new Error(text), { responseCode })) : callback();
      const server = await mailServer({
        onMailFrom: (_address, _session, callback) => answer('MAIL', callback),
        onRcptTo: (_address, _session, callback) => answer('RCPT', callback),
        onData(stream, _session, callback) {
          stream.resume().on('end', () => answer('DATA', callback));
        },
      });
      const { send } = mailerTo(server, 1);
      expect(await send(mailTo('ann'), never())).toMatchObject({
        ok: false,
        refusesAddress,
        isOfRecipient,
      });
    },
  );

  it('fail if the mail server rejects the password, which is not a failure of the recipient', async () => {
    const server = await mailServer({
      onAuth: (_auth, _session, callback) => callback(new Error('no')),
    });
    const { send } = mailerTo(server, 1, { user: 'vedette', pass: 'old' });
    const outcome = await send(mailTo('ann'), never());
    expect(outcome).toMatchObject({ ok: false, status: 535, isOfRecipient: false });
  });

  it('fail where the mail server is away', async () => {
    const { send } = mailerTo({ port: 1 }, 2);
    const failed = { ok: false, status: null, isFinal: false, isOfRecipient: false };
    const sent = await Promise.all(
      ['ann', 'bob', 'eve'].map((name) => send(mailTo(name), never())),
    );
    expect(sent).toMatchObject([failed, failed, failed]);
  });
});
