import { z } from 'zod';
import { LOCATIONS } from '../enums.ts';

const SLUG = /^[a-z0-9][a-z0-9_-]{0,99}$/;

const slug = z
  .string()
  .refine((text) => SLUG.test(text), {
    error:
      'must be 1 to 100 lower-case letters, digits, dashes and underscores that start with a letter or digit',
  })
  .refine((text) => !LOCATIONS.some((location) => location === text), {
    error: 'must not be the name of a public location',
  })
  .meta({ pattern: SLUG.source })
  .describe('The name of the location in checks and results. It never changes.');

const proxyUrl = z
  .string()
  .max(2048)
  .refine(isProxyUrl, {
    error:
      'must be the http or https address of a proxy without a path, for example http://proxy.internal:3128; a / in a password is written %2F',
  })
  .nullable()
  .default(null)
  .describe(
    'The proxy that checks of this location use. A password in it, or a user name without a password, is returned as ********. An update that sends ******** keeps the stored value; a URL without it removes the value.',
  );

/** The writable fields of a private location. */
export const privateLocationSchema = z.strictObject({
  slug,
  name: z.string().min(1).max(255).describe('The display name of the location.'),
  icon: z.string().min(1).max(255).nullable().default(null).describe('The name of an icon.'),
  proxyUrl,
});

/** A path is invalid: it may be the rest of a password with an unescaped slash. */
function isProxyUrl(text: string): boolean {
  if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) return false;
  return new URL(text).pathname === '/' && !/[?#]/.test(text);
}
