// Inside a container: targets of checks. HTTP on port 8000: `/` answers at once, `/hold` answers
// after a request of `/release`, `/held` returns the number of held requests. Port 9000 is an echo
// server.
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';

const held = new Set();
const paths = {
  '/hold': (response) => held.add(response),
  '/held': (response) => response.end(`${held.size}`),
  '/release': (response) => {
    for (const each of held) each.end('released');
    held.clear();
    response.end('released');
  },
};
createHttpServer((request, response) => {
  const answer = paths[request.url];
  if (answer === undefined) response.end('here');
  else answer(response);
}).listen(8000);
createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(9000);
process.on('SIGTERM', () => process.exit());
