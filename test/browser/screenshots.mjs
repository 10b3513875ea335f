// Writes each page in both themes and two widths to a folder: `npm run screenshots -- FOLDER`.
import { runnerImport } from 'vite';

await runnerImport('./test/browser/screenshots.ts');
