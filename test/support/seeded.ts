import fc from 'fast-check';

/** Set FUZZ_SEED to make the same random cases again, as CI does so that none of them is chance. */
const seed = process.env.FUZZ_SEED;
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });
