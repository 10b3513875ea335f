import fc from 'fast-check';

/** FUZZ_SEED repeats random cases. CI sets it, so that two runs try the same ones. */
const seed = process.env.FUZZ_SEED;
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });
