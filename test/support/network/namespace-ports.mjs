// Inside a network namespace: relays connections from one address to another, each a port or a Unix
// socket, which is visible in all namespaces. Ends with its input.
import { connect, createServer } from 'node:net';

const [, , relays = '[]'] = process.argv;

const opened = JSON.parse(relays).map(({ from, to }) => {
  const server = createServer((incoming) => {
    const onward = connect(to);
    incoming.on('error', () => onward.destroy());
    onward.on('error', () => incoming.destroy());
    incoming.pipe(onward).pipe(incoming);
  });
  return new Promise((resolve) => server.listen(from, resolve));
});
await Promise.all(opened);
process.stdout.write('open\n');
process.stdin.on('end', () => process.exit()).resume();
