import type { Scene } from '../scenes.ts';
import { addCertificates, addClientCertificates } from './certificate-samples.ts';

export const CERTIFICATE_SCENES: readonly Scene[] = [
  { name: 'certificates-empty', path: '/certificates' },
  { name: 'certificates', path: '/certificates', prepare: addCertificates },
  {
    name: 'certificates-client',
    path: '/certificates?view=client',
    prepare: addClientCertificates,
  },
  {
    name: 'certificates-add',
    path: '/certificates?view=client',
    act: async ({ page }) => {
      await page.getByRole('button', { name: 'Add a certificate' }).click();
      await page.getByLabel('Host').waitFor();
    },
  },
];
