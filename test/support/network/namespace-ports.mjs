// Inside a network namespace: loopback ports that lead to Unix sockets, which are visible in all
// namespaces. Ends with its input.
import { connect, createServer } from 'node:net';

const [, , ports = '[]'] = process.argv;

const opened = JSON.parse(ports).map(({ port, path }) => {
  const server = createServer((inside) => {
    const outside = connect(path);
    inside.on('error', () => outside.destroy());
    outside.on('error', () => inside.destroy());
    inside.pipe(outside).pipe(inside);
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
});
await Promise.all(opened);
process.stdout.write('open\n');
process.stdin.on('end', () => process.exit()).resume();
