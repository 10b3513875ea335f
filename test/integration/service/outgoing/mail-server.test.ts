import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { gatedMailServer } from '../../../support/servers/gated-mail-server.ts';
import { mailServer } from '../../../support/servers/mail-server.ts';

/** Sends a mail up to the end of these lines, and waits for the answer to each command before. */
async function sendTo(port: number, ...lines: readonly string[]) {
  const socket = connect({ host: '127.0.0.1', port }).setEncoding('utf8');
  await once(socket, 'data');
  for (const command of ['EHLO a.test', 'MAIL FROM:<a@a.test>', 'RCPT TO:<b@a.test>', 'DATA']) {
    socket.write(`${command}\r\n`);
    await once(socket, 'data');
  }
  socket.write(lines.map((line) => `${line}\r\n`).join(''));
  return socket;
}

it.each([
  ['a mail server', mailServer],
  ['one that can withhold its answers', gatedMailServer],
])('%s of the tests has no mail of a sender that disconnects too early', async (_name, start) => {
  const server = await start();
  const half = await sendTo(server.port, 'Subject: half', '', 'the first line');
  half.destroy();
  await once(half, 'close');
  const whole = await sendTo(server.port, 'Subject: whole', '', 'all', '.');
  await eventually(() => server.mails.length > 0);
  whole.destroy();
  expect(server.mails.map(({ source }) => source)).toEqual([expect.stringContaining('whole')]);
});
