import { z } from 'zod';
import { newPassword } from '../account/password.ts';
import { CHECK_ID } from '../ids.ts';
import { logicalIdField } from '../logical-id.ts';
import { repeatedField } from '../repeated-field.ts';

const MAX_CARDS = 100;
const MAX_CARD_SERVICES = 100;
/** The limit for all cards of a page together: a list of pages contains all of their services. */
const MAX_PAGE_SERVICES = 1000;

const name = z.string().min(1).max(255);

/** The id of a service in cards and incidents. */
export const serviceIdSchema = z.guid().describe('The id of the service.');

/** Limit for checks and for heartbeats: a service is one component of a page, not a fleet. */
const MAX_SERVICE_CHECKS = 100;
const MAX_SERVICE_TAGS = 20;
const MAX_FAILURE_LOCATIONS = 100;

export const FAILURE_RULES = ['ANY', 'ALL', 'LOCATIONS'] as const;
export type FailureRule = (typeof FAILURE_RULES)[number];

function namedOnce(item: z.ZodType<string>, what: string) {
  return z
    .array(item)
    .refine((ids) => new Set(ids).size === ids.length, { error: `must name each ${what} once` });
}

/**
 * The writable fields of a service, a monitored component as readers of a page know it. The rule
 * between fields is in `serviceProblems`.
 */
export const statusPageServiceSchema = z.strictObject({
  name: name.describe('The name of the service.'),
  checkIds: namedOnce(z.string().regex(CHECK_ID), 'check')
    .max(MAX_SERVICE_CHECKS)
    .default([])
    .describe('The ids of the checks that measure the service, without heartbeats.'),
  checkTags: namedOnce(z.string().min(1).max(255), 'tag')
    .max(MAX_SERVICE_TAGS)
    .default([])
    .describe(
      'All checks and heartbeats with one of these tags, or whose group has one, measure the service, too.',
    ),
  heartbeatIds: namedOnce(z.string().regex(CHECK_ID), 'heartbeat')
    .max(MAX_SERVICE_CHECKS)
    .default([])
    .describe('The ids of the heartbeats that measure the service.'),
  failureRule: z
    .enum(FAILURE_RULES)
    .default('ANY')
    .describe(
      'When the service has an outage. ANY: a check fails (a partial outage, and a major one when all fail). ALL: all checks fail; fewer degrade the service. LOCATIONS: as ANY, with checks that fail in `failureLocations` locations at once.',
    ),
  failureLocations: z
    .int()
    .min(1)
    .max(MAX_FAILURE_LOCATIONS)
    .nullable()
    .default(null)
    .describe(
      'Required with the rule LOCATIONS, not used with others: in how many locations a check must fail at once. A check with fewer locations must fail in all of them.',
    ),
  showUptime: z
    .boolean()
    .default(true)
    .describe('Whether pages show the availability of the last 90 days.'),
  logicalId: logicalIdField,
});
export type StatusPageService = z.infer<typeof statusPageServiceSchema>;

/** Conflicts between the fields of a service; `message` follows the name of the field. */
export function serviceProblems({
  failureRule,
  failureLocations,
}: Pick<StatusPageService, 'failureRule' | 'failureLocations'>): readonly {
  readonly field: string;
  readonly message: string;
}[] {
  if (failureRule !== 'LOCATIONS' || failureLocations !== null) return [];
  return [{ field: 'failureLocations', message: 'is required with the failureRule LOCATIONS' }];
}

const LIGHT_COLORS = {
  bodyBackgroundColor: '#f8fafc',
  headerBackgroundColor: '#ffffff',
  headerFontColor: '#0f172a',
  titleFontColor: '#0f172a',
  bodyFontColor: '#334155',
  bodyFontColorMuted: '#64748b',
  navigationFontColor: '#334155',
  linkFontColor: '#1d4ed8',
  cardBackgroundColor: '#ffffff',
  borderColor: '#e2e8f0',
  primaryButtonBackgroundColor: '#1d4ed8',
  primaryButtonFontColor: '#ffffff',
} as const;

const DARK_COLORS = {
  bodyBackgroundColor: '#0b1120',
  headerBackgroundColor: '#0f172a',
  headerFontColor: '#f8fafc',
  titleFontColor: '#f8fafc',
  bodyFontColor: '#cbd5e1',
  bodyFontColorMuted: '#94a3b8',
  navigationFontColor: '#cbd5e1',
  linkFontColor: '#93c5fd',
  cardBackgroundColor: '#1e293b',
  borderColor: '#334155',
  primaryButtonBackgroundColor: '#93c5fd',
  primaryButtonFontColor: '#0b1120',
} as const satisfies Record<keyof typeof LIGHT_COLORS, string>;

/** CSS Color 4, section 5.2: three, four, six or eight hex digits. */
const HEX_COLOR = /^#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$/;

/** The twelve colours of one theme (src/service/README.md, "Status pages and incidents"). */
function themeOf(defaults: Readonly<Record<keyof typeof LIGHT_COLORS, string>>) {
  const color = (of: keyof typeof LIGHT_COLORS) =>
    z
      .string()
      .regex(HEX_COLOR)
      .default(defaults[of])
      .describe(`A CSS hex colour, for example ${defaults[of]}, its default.`);
  return z
    .strictObject({
      bodyBackgroundColor: color('bodyBackgroundColor'),
      headerBackgroundColor: color('headerBackgroundColor'),
      headerFontColor: color('headerFontColor'),
      titleFontColor: color('titleFontColor'),
      bodyFontColor: color('bodyFontColor'),
      bodyFontColorMuted: color('bodyFontColorMuted'),
      navigationFontColor: color('navigationFontColor'),
      linkFontColor: color('linkFontColor'),
      cardBackgroundColor: color('cardBackgroundColor'),
      borderColor: color('borderColor'),
      primaryButtonBackgroundColor: color('primaryButtonBackgroundColor'),
      primaryButtonFontColor: color('primaryButtonFontColor'),
    })
    .default({ ...defaults });
}

const themeColors = z
  .strictObject({
    light: themeOf(LIGHT_COLORS).describe('The colours of the light theme.'),
    dark: themeOf(DARK_COLORS).describe('The colours of the dark theme.'),
  })
  .default({ light: { ...LIGHT_COLORS }, dark: { ...DARK_COLORS } });

const HTTP_URL = /^[hH][tT][tT][pP][sS]?:\/\/[^/?#]/;

function address(what: string) {
  return z
    .string()
    .max(2048)
    .refine((text) => HTTP_URL.test(text) && URL.canParse(text), {
      error: 'must be an http or https URL, for example https://example.com/logo.png',
    })
    .meta({ pattern: HTTP_URL.source })
    .nullable()
    .default(null)
    .describe(`${what}: an http or https URL.`);
}

/** A label of RFC 1035 2.3.1, which digits may begin (RFC 1123 2.1). */
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const SLUG = new RegExp(`^${LABEL}$`);
/** Two or more labels; the last one is not a number, which excludes IP addresses. */
const DOMAIN = new RegExp(`^(?:${LABEL}\\.)+(?![0-9]+$)${LABEL}$`);

const url = z
  .string()
  .refine((text) => SLUG.test(text), {
    error:
      'must be 1 to 63 lower-case letters, digits and dashes that start and end with a letter or digit',
  })
  .meta({ pattern: SLUG.source })
  .describe('The name of the page in its address. No two pages have the same.');

const customDomain = z
  .string()
  .max(253)
  .toLowerCase()
  .refine((text) => DOMAIN.test(text), {
    error:
      'must be a host name with a dot, for example status.example.com, in ASCII and without scheme, port or path',
  })
  .meta({ pattern: DOMAIN.source })
  .nullable()
  .default(null)
  .describe('A domain of your own for the page. No two pages have the same.');

/** A service as a response contains it; only the id is used. */
const namedService = z
  .strictObject({
    ...(Object.fromEntries(
      Object.keys(statusPageServiceSchema.shape).map((field) => [field, repeatedField]),
    ) as Record<keyof StatusPageService, typeof repeatedField>),
    id: serviceIdSchema,
    accountId: repeatedField,
    created_at: repeatedField,
    updated_at: repeatedField,
  })
  .meta({ title: 'StatusPageCardService' });

function cardServicesOf<Service extends z.ZodType<string>>(service: Service) {
  return z
    .array(service)
    .max(MAX_CARD_SERVICES)
    .refine((ids) => new Set(ids).size === ids.length, {
      error: 'must name each service once',
    })
    .default([]);
}

const cardServices = cardServicesOf(
  z
    .union([serviceIdSchema, namedService])
    .transform((service) => (typeof service === 'string' ? service : service.id)),
).describe(
  'The ids of the services in display order, or the services as a response contains them.',
);

const cardFields = {
  name: name.describe('The heading of the card.'),
  services: cardServices,
};

function cardsOf<Card extends z.ZodType<{ services: string[] }>>(card: Card) {
  return z
    .array(card)
    .max(MAX_CARDS)
    .refine(
      (cards) => cards.reduce((sum, { services }) => sum + services.length, 0) <= MAX_PAGE_SERVICES,
      { error: `must have at most ${MAX_PAGE_SERVICES} services in all` },
    )
    .default([]);
}

export const DEFAULT_THEMES = ['LIGHT', 'DARK', 'AUTO'] as const;

const pageFields = {
  name: name.describe('The name of the page.'),
  url,
  description: z
    .string()
    .max(500)
    .nullable()
    .default(null)
    .describe('A short description of the page.'),
  customDomain,
  themeColors: themeColors.describe(
    'The colours of the page. Omitted colours have their defaults.',
  ),
  logo: address('The image at the top of the page, fetched and served by the service'),
  favicon: address('The icon in the browser tab, fetched and served by the service'),
  redirectTo: address('The target of the link on the logo'),
  defaultTheme: z
    .enum(DEFAULT_THEMES)
    .default('AUTO')
    .describe('The theme that readers see first. AUTO: the setting of their system.'),
  whiteLabel: z
    .boolean()
    .default(false)
    .describe('Whether the page hides the name of the product.'),
  isPrivate: z
    .boolean()
    .default(false)
    .describe(
      'Whether only members of the account, and readers who know its password, may see the page.',
    ),
  password: newPassword
    .nullable()
    .optional()
    .meta({ writeOnly: true })
    .describe(
      'The password that opens the page while it is private; null for none. Responses never contain it. Changing it signs out all readers.',
    ),
  logicalId: logicalIdField,
};

/** The writable fields of a status page: src/service/README.md, "Status pages and incidents". */
export const statusPageSchema = z.strictObject({
  ...pageFields,
  cards: cardsOf(z.strictObject(cardFields)).describe('The cards of the page in display order.'),
});
export type StatusPage = z.infer<typeof statusPageSchema>;

/** The fields of a page without its cards and its password, which is never read back. */
export type StatusPageFields = Omit<StatusPage, 'cards' | 'password'>;

const fileCard = z.strictObject({
  ...cardFields,
  services: cardServicesOf(z.string().min(1).max(100)),
});

const { password: _, ...fileFields } = pageFields;

/**
 * A status page in a check file, which names services by their ids in the file. It has no password:
 * each apply would set it anew, which signs out all readers.
 */
export const fileStatusPageSchema = z.strictObject({
  ...fileFields,
  cards: cardsOf(fileCard).describe('The cards of the page in display order, as {name, services}.'),
});

const changedCard = z.strictObject({
  ...cardFields,
  id: z
    .guid()
    .optional()
    .describe('The id of a card of this page. If omitted, a card of the same name keeps its id.'),
  created_at: repeatedField,
  updated_at: repeatedField,
});

/** A status page in an update, which may name existing cards. */
export const changedStatusPageSchema = statusPageSchema.extend({
  cards: cardsOf(changedCard).describe('All cards of the page in display order.'),
});
export type ChangedStatusPage = z.infer<typeof changedStatusPageSchema>;
