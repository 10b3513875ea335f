// Inside a network namespace: a Unix socket, visible in all namespaces, that leads to a port of the
// loopback there. Ends with its input.
import { connect, createServer } from 'node:net';

const [, , path, port] = process.argv;

const server = createServer({ allowHalfOpen: true }, (outside) => {
  const inside = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
  inside.on('error', () => outside.destroy());
  outside.on('error', () => inside.destroy());
  outside.pipe(inside).pipe(outside);
});
server.listen(path, () => process.stdout.write('open\n'));
process.stdin.on('end', () => process.exit()).resume();
