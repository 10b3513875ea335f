// Loaded into the agent before its program: from SIGUSR2 on, holds the event loop for two seconds in
// every thirty.
const [EVERY_MS, STALL_MS] = [30_000, 2_000];

function stall() {
  for (const endMs = performance.now() + STALL_MS; performance.now() < endMs; );
}

process.once('SIGUSR2', () => {
  setInterval(stall, EVERY_MS).unref();
  // No attempt that waits for 30 s is without a stall.
  setTimeout(stall, EVERY_MS / 2).unref();
});
