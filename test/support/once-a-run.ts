/** Global to this process: the setups of all projects run in it, each with its own modules. */
const DONE = Symbol.for('vedette.once-a-run');
const known = globalThis as { [DONE]?: Map<string, unknown> };

/** The result of `make`, which is called once per run of the tests, for all projects. */
export function onceARun<Made>(name: string, make: () => Made): Made {
  const done = known[DONE] ?? new Map<string, unknown>();
  known[DONE] = done;
  if (!done.has(name)) done.set(name, make());
  return done.get(name) as Made;
}
