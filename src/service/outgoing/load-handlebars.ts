import { createRequire } from 'node:module';
import type Handlebars from 'handlebars';

/** Loads Handlebars at its first use: a service without templates starts faster. */
export function loadHandlebars(): typeof Handlebars {
  return createRequire(import.meta.url)('handlebars');
}
