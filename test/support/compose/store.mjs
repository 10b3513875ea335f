// Replaces the store of docker/compose.yaml for creating buckets: HEAD and PUT of /name.
//
//   node container-store.mjs PORT
import { createServer } from 'node:http';

const buckets = new Set();
const port = Number(process.argv[2]);
createServer((request, response) => {
  const isThere = buckets.has(request.url);
  if (request.method === 'PUT') buckets.add(request.url);
  request.resume().on('end', () => {
    response.writeHead(request.method === 'PUT' || isThere ? 200 : 404).end();
  });
}).listen(port, () => console.log('the store listens'));
