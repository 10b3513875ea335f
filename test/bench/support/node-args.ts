/** For a profile of the measured agent or service: `BENCH_NODE_ARGS="--cpu-prof --cpu-prof-dir=DIR"`. */
export function nodeArgs(): string[] {
  return (process.env.BENCH_NODE_ARGS ?? '').split(' ').filter((arg) => arg !== '');
}
