import { describe, expect, it } from 'vitest';
import { LACKING } from '../../support/browser.ts';
import { useDashboard } from '../../support/dashboard.ts';
import { addCertificates, addClientCertificates, newIdentity } from './certificate-samples.ts';

describe.skipIf(LACKING !== null)('the pages of certificates', () => {
  const { service, newAccount, open } = useDashboard();

  it('show what expires first, once for all checks that see it', async () => {
    const account = await newAccount();
    await addCertificates(account, service());
    const { page, goto, faults } = await open(account);
    await goto('/certificates');
    const rows = page.locator('tbody tr');
    await rows.first().waitFor();
    const texts = await rows.allTextContents();
    expect(texts.map((text) => /Expired|\d+ days/.exec(text)?.[0])).toEqual([
      'Expired',
      '4 days',
      '12 days',
      '25 days',
      '44 days',
      '61 days',
    ]);
    expect(texts[0]).toMatch(/legacy\.example\.com.*itself.*not trusted.*Legacy portal/);
    expect(texts[3]).toMatch(/smtp\.example\.com.*Acme.*Outgoing mail/);
    expect(texts[4]).toMatch(/dns\.example\.com.*R11.*Resolver/);
    expect(texts[5]).toMatch(/shop\.example\.com.*R11.*Let's Encrypt.*2 checks/);
    await page.getByText('1 expired').waitFor();
    await rows.last().locator('summary').click();
    await rows.last().getByRole('link', { name: 'Checkout' }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/checks/checkout');
    expect(faults()).toEqual([]);
  });

  it('add, replace and delete a client certificate, and say which checks use it', async () => {
    const account = await newAccount();
    await addCertificates(account, service());
    const first = await newIdentity('vedette-agent');
    const second = await newIdentity('vedette-agent-2');
    const { page, goto } = await open(account);
    await goto('/certificates?view=client');
    await page.getByText('Targets with mutual TLS').waitFor();
    await page.getByRole('button', { name: 'Add a certificate' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Host').fill('mail.example.com');
    await dialog.getByLabel('Certificate', { exact: true }).fill(first.cert);
    await dialog.getByLabel('Private key', { exact: true }).fill(second.key);
    await dialog.getByRole('button', { name: 'Add the certificate' }).click();
    await dialog.getByText('must be the private key of the first certificate').waitFor();
    await dialog.getByLabel('Private key', { exact: true }).and(page.locator(':focus')).waitFor();
    expect(await dialog.getByLabel('Host').inputValue()).toBe('mail.example.com');
    await dialog.getByLabel('Private key from a file').setInputFiles({
      name: 'agent.key',
      mimeType: 'application/x-pem-file',
      buffer: Buffer.from(first.key),
    });
    await dialog.getByRole('button', { name: 'Add the certificate' }).click();
    const row = page.locator('tr', { hasText: /mail\.example\.com.*vedette-agent.*Webmail/ });
    await row.waitFor();
    expect(await page.content()).not.toContain('PRIVATE KEY');
    await row.getByRole('button', { name: 'Replace' }).click();
    await dialog.getByLabel('Certificate', { exact: true }).fill(second.cert);
    await dialog.getByLabel('New private key', { exact: true }).fill(second.key);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.locator('tr', { hasText: /vedette-agent-2/ }).waitFor();
    await page.getByRole('button', { name: 'Delete the certificate of mail' }).click();
    await dialog.getByText('1 check of this host').waitFor();
    await dialog.getByRole('link', { name: 'Webmail' }).waitFor();
    await dialog.getByRole('button', { name: 'Delete the certificate' }).click();
    await page.getByText('Targets with mutual TLS').waitFor();
    expect((await account.get('/v1/client-certificates')).json).toEqual([]);
  });

  it('let a user of the role read see everything and change nothing', async () => {
    const account = await newAccount('read');
    await addClientCertificates(account, service());
    const { page, goto, faults } = await open(account);
    await goto('/certificates?view=client');
    await page.locator('tr', { hasText: /bank\.example\.net.*no check/ }).waitFor();
    const buttons = page.locator('main').getByRole('button', { name: /Add|Replace|Delete/ });
    expect(await buttons.count()).toBe(0);
    expect(faults()).toEqual([]);
  });

  it.each([
    { theme: 'light', width: 360 },
    { theme: 'dark', width: 1_440 },
  ] as const)(
    'have no violation of axe and do not scroll sideways ($theme, $width px)',
    async (view) => {
      const account = await newAccount();
      await addClientCertificates(account, service());
      const { page, goto, axe, faults } = await open(account, view);
      for (const path of ['/certificates', '/certificates?view=client']) {
        await goto(path);
        await page.locator('tbody tr').first().waitFor();
        expect(await axe(), path).toEqual([]);
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect(overflow, path).toBe(0);
      }
      await page.getByRole('button', { name: 'Add a certificate' }).click();
      await page.getByLabel('Host').waitFor();
      expect(await axe()).toEqual([]);
      expect(faults()).toEqual([]);
    },
  );
});
