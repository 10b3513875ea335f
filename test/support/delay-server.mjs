// An HTTP server in a process of its own, so that its clock is not disturbed by what is measured.
// `/held` answers after 50 ms and tells in x-held-ms how long it truly held the request; any other
// path is answered at once. Prints its port; ends when its input does.
import { createServer } from 'node:http';

const HOLD_MS = 50;
const SPIN_MS = 2;

function answer(request, response) {
  if (request.url !== '/held') {
    response.end('ok');
    return;
  }
  const receivedMs = performance.now();
  // A timer is good to a millisecond; the rest is waited out in place.
  setTimeout(() => {
    while (performance.now() - receivedMs < HOLD_MS);
    response.setHeader('x-held-ms', String(performance.now() - receivedMs));
    response.end('held');
  }, HOLD_MS - SPIN_MS);
}

// One address has not the ports for hundreds of fresh connections a second.
const first = createServer(answer).listen(0, '127.0.0.1', () => {
  const { port } = first.address();
  for (let n = 1; n <= 4; n += 1) createServer(answer).listen(port, `127.0.1.${n}`);
  console.log(port);
});
process.stdin.on('end', () => process.exit()).resume();
