import type { Scene } from '../scenes.ts';
import { addReportedChecks } from './report-samples.ts';

export const REPORT_SCENES: readonly Scene[] = [
  { name: 'reports-empty', path: '/reports' },
  {
    name: 'reports',
    path: '/reports?sort=availability',
    prepare: addReportedChecks,
    act: async ({ page }) => await page.getByText('3 checks', { exact: true }).waitFor(),
  },
  {
    name: 'reports-error',
    path: '/reports',
    act: async ({ page }) => {
      await page.route(/\/v1\/analytics/, (route) => route.fulfill({ status: 503, body: '{}' }));
      await page.reload();
      await page.getByRole('alert').waitFor();
    },
  },
];
