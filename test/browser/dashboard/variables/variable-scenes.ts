import type { Scene } from '../scenes.ts';
import { addVariables } from './variable-samples.ts';

export const VARIABLE_SCENES: readonly Scene[] = [
  { name: 'variables-empty', path: '/variables' },
  { name: 'variables', path: '/variables', prepare: addVariables },
  {
    name: 'variables-edit',
    path: '/variables',
    prepare: addVariables,
    act: async ({ page }) => {
      await page.getByRole('button', { name: 'Edit API_TOKEN' }).click();
      await page.getByLabel('New value').waitFor();
    },
  },
  {
    name: 'variables-delete',
    path: '/variables',
    prepare: addVariables,
    act: async ({ page }) => {
      await page.getByRole('button', { name: 'Delete API_TOKEN' }).click();
      await page.getByText('their next runs fail').waitFor();
    },
  },
  {
    name: 'variables-error',
    path: '/variables',
    act: async ({ page }) => {
      await page.route(/\/v1\/variable/, (route) => route.fulfill({ status: 503, body: '{}' }));
      await page.reload();
      await page.getByRole('alert').waitFor();
    },
  },
];
