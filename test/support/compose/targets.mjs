// Inside a container: what checks are pointed at. Over HTTP on port 8000 `/` answers at once, `/hold`
// when somebody has asked for `/release`, and `/held` tells how many wait; on port 9000 an echo.
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
