import { describe, expect, it, onTestFinished } from 'vitest';
import { createMailer, type Mailer } from '../../../../src/service/alerts/senders/email.ts';
import { type MailServer, mailServer } from '../../../support/servers/mail-server.ts';

const never = () => new AbortController().signal;

function mailerTo({ port }: Pick<MailServer, 'port'>, maxConnections: number): Mailer {
  const mailer = createMailer(
    {
      host: '127.0.0.1',
      port,
      secure: false,
      auth: null,
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

  it('fail where the mail server is away', async () => {
    const { send } = mailerTo({ port: 1 }, 2);
    const failed = { ok: false, status: null, isFinal: false, refusesAddress: false };
    const sent = await Promise.all(
      ['ann', 'bob', 'eve'].map((name) => send(mailTo(name), never())),
    );
    expect(sent).toMatchObject([failed, failed, failed]);
  });
});
