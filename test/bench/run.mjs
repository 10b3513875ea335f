// Vite compiles the TypeScript of the benchmark, and of its imports, as Vitest does for tests.
import { runnerImport } from 'vite';

await runnerImport('./test/bench/main.ts');
