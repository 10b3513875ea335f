import type { DashboardAccount, DashboardService } from '../../support/dashboard-service.ts';
import type { Scene } from '../scenes.ts';

const PATH = '/v1/status-pages';

async function made(reply: ReturnType<DashboardAccount['post']>): Promise<string> {
  const { status, text, json } = await reply;
  if (status !== 201) throw new Error(`not made: ${status} ${text}`);
  return json.id;
}

export interface SamplePage {
  readonly pageId: string;
  /** The url of the page. */
  readonly url: string;
  readonly shop: string;
  readonly mail: string;
}

/** A status page with two services, and two subscribers of whom one wants them all. */
export async function makePage(
  { post, accountId }: DashboardAccount,
  { store }: DashboardService,
): Promise<SamplePage> {
  const shop = await made(post(`${PATH}/services`, { name: 'Shop' }));
  const mail = await made(post(`${PATH}/services`, { name: 'Mail' }));
  const url = `acme-${accountId.slice(0, 8)}`;
  const cards = [{ name: 'Products', services: [shop, mail] }];
  const pageId = await made(post(PATH, { name: 'Acme status', url, cards }));
  for (const name of ['one', 'two']) {
    await store.query(
      `insert into status_page_subscribers (account_id, status_page_id, id, kind, sealed,
         address_digest, token_hash, base, confirmed_at, created_at)
       values ($1, $2, gen_random_uuid()::text, 'email', $3::bytea, $3::bytea, $3::bytea,
         'http://127.0.0.1', now(), now())`,
      [accountId, pageId, Buffer.from(`${name} ${pageId}`)],
    );
  }
  return { pageId, url, shop, mail };
}

const LONG = 'The payment provider answers slowly, so that orders take up to a minute. ';

/** Open, resolved and draft incidents. */
export async function prepareIncidents(
  account: DashboardAccount,
  service: DashboardService,
): Promise<void> {
  const { shop, mail } = await makePage(account, service);
  const { post } = account;
  const incident = async (name: string, fields: object): Promise<void> => {
    await made(post(`${PATH}/incidents`, { name, severity: 'MAJOR', services: [shop], ...fields }));
  };
  await incident('Mail was not delivered', {
    severity: 'CRITICAL',
    services: [mail],
    postMortem:
      '## What happened\n\nA **disk** was full:\n\n- no alert\n- no quota\n\n> never again',
    incidentUpdates: [
      { status: 'INVESTIGATING', description: 'We look into it.', notifySubscribers: true },
      { status: 'RESOLVED', description: 'Mails are delivered again.' },
    ],
  });
  await incident('Payments are slow', {
    services: [shop, mail],
    incidentUpdates: [
      { status: 'INVESTIGATING', description: LONG.repeat(4).trim() },
      { status: 'IDENTIFIED', description: 'The provider has confirmed it.' },
    ],
  });
  await incident(
    'Move to a new data centre, of which nobody needs to know as long as it goes well',
    {
      severity: 'MINOR',
      services: [],
      isDraft: true,
      incidentUpdates: [{ status: 'MONITORING', description: 'It may become slow tonight.' }],
    },
  );
}

const open =
  (name: string): NonNullable<Scene['act']> =>
  async ({ page }) => {
    await page.getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await page
      .getByText(/(?:will be notified|nobody is notified)\./)
      .first()
      .waitFor();
  };

export const INCIDENT_SCENES: readonly Scene[] = [
  { name: 'incidents-empty', path: '/incidents' },
  { name: 'incidents', path: '/incidents', prepare: prepareIncidents },
  {
    name: 'incidents-one',
    path: '/incidents',
    prepare: prepareIncidents,
    act: open('Mail was not delivered'),
  },
  {
    name: 'incidents-new',
    path: '/incidents',
    prepare: prepareIncidents,
    act: async ({ page }) => {
      await page.getByRole('button', { name: 'New incident' }).click();
      await page.getByRole('checkbox', { name: 'Shop' }).check();
      await page.getByText('will be notified.').waitFor();
    },
  },
];
