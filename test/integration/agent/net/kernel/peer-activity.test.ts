import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { loadKernelSockets } from '../../../../../src/agent/net/kernel/kernel-sockets.ts';
import { peerActivity, peerTookMs } from '../../../../../src/agent/net/kernel/peer-activity.ts';
import { listenTcp } from '../../../../support/servers/tcp-servers.ts';

const sockets = await loadKernelSockets();
// Only Linux has these system calls.
const onLinux = it.runIf(process.platform === 'linux');

/** A connection that reads nothing, and the end of the target. */
async function connected(): Promise<{ readonly ours: Socket; readonly theirs: Socket }> {
  let accepted = (_socket: Socket): void => {};
  const arrival = new Promise<Socket>((resolve) => {
    accepted = resolve;
  });
  const server = await listenTcp((socket) => accepted(socket));
  onTestFinished(() => server.close());
  const ours = connect({ host: '127.0.0.1', port: server.port });
  ours.pause();
  onTestFinished(() => void ours.destroy());
  await once(ours, 'connect');
  return { ours, theirs: await arrival };
}

async function untilArrived(ours: Socket): Promise<void> {
  while (peerActivity(sockets, ours).kind !== 'arrived') {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

onLinux('sees that a target is silent', async () => {
  const { ours } = await connected();
  ours.write('hello');
  expect(peerActivity(sockets, ours)).toMatchObject({ kind: 'silent' });
});

onLinux('sees an answer that nobody has read', async () => {
  const { ours, theirs } = await connected();
  theirs.write('an answer');
  await untilArrived(ours);
});

onLinux('sees an end that nobody has read', async () => {
  const { ours, theirs } = await connected();
  theirs.end();
  await untilArrived(ours);
});

onLinux('sees that a connection which is there was made', async () => {
  const { ours } = await connected();
  expect(peerActivity(sockets, ours, true)).toEqual({ kind: 'arrived' });
});

onLinux('reads no descriptor that is closed', async () => {
  const { ours } = await connected();
  ours.destroy();
  expect(peerActivity(sockets, ours)).toEqual({ kind: 'unknown' });
  expect(peerTookMs(sockets, ours)).toBe(0);
});

it('the silence of a peer is unknown if the kernel state is not available', async () => {
  const { ours } = await connected();
  expect(peerActivity(null, ours)).toEqual({ kind: 'unknown' });
});
