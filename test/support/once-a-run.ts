/** Global to this process: the set-ups of all projects run in it, each with its own modules. */
const DONE = Symbol.for('vedette.once-a-run');
const known = globalThis as { [DONE]?: Map<string, unknown> };

/** What `make` gives, which is called once in a run of the tests, whichever projects ask for it. */
export function onceARun<Made>(name: string, make: () => Made): Made {
  const done = known[DONE] ?? new Map<string, unknown>();
  known[DONE] = done;
  if (!done.has(name)) done.set(name, make());
  return done.get(name) as Made;
}
