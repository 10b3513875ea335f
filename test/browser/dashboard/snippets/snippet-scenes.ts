import type { Scene } from '../scenes.ts';
import { addSnippets } from './snippet-samples.ts';

export const SNIPPET_SCENES: readonly Scene[] = [
  { name: 'snippets-empty', path: '/snippets' },
  { name: 'snippets', path: '/snippets', prepare: addSnippets },
  {
    name: 'snippets-edit',
    path: '/snippets',
    prepare: addSnippets,
    act: async ({ page }) => {
      await page.getByRole('button', { name: 'Edit Sign in' }).click();
      await page.getByLabel('Script').waitFor();
    },
  },
  {
    name: 'snippets-error',
    path: '/snippets',
    act: async ({ page }) => {
      await page.route(/\/v1\/snippets/, (route) => route.fulfill({ status: 503, body: '{}' }));
      await page.reload();
      await page.getByRole('alert').waitFor();
    },
  },
];
