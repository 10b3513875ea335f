import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { validBody } from '../../http/resources/input-problems.ts';
import type { Note } from './page.ts';

export const FORM_TYPE = 'application/x-www-form-urlencoded';
/** Not compressed: the pages contain tokens together with text from the request (BREACH attack). */
const OPEN = { public: true, uncompressed: true } as const;
/** The options of a page's route. */
export const PAGE = { config: OPEN, schema: { hide: true } } as const;
/** The same for the form on it. */
export const PAGE_WITH_FORM = {
  config: { ...OPEN, bodyType: FORM_TYPE, audit: 'by its feature' },
  schema: { hide: true },
} as const;
const MAX_FORM_BYTES = 16 * 1024;

/** A route of a link, whose path ends with its token. */
export interface OfToken {
  readonly Params: { readonly token: string };
}

/** Routes of pages take forms of browsers instead of JSON. */
export function addForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    FORM_TYPE,
    { parseAs: 'string', bodyLimit: MAX_FORM_BYTES },
    async (_request: unknown, text: string) => Object.fromEntries(new URLSearchParams(text)),
  );
}

/** The fields of a form. @throws ServiceError 400 that names the field by its label */
export function fieldsOf<Fields extends z.ZodRawShape>(
  { body }: Pick<FastifyRequest, 'body'>,
  fields: Fields,
): z.output<z.ZodObject<Fields>> {
  return validBody(z.object(fields), body ?? {});
}

/** The given text of a field, to show it again. */
export function givenIn({ body }: Pick<FastifyRequest, 'body'>, name: string): string {
  const given: unknown = Object(body)[name];
  return typeof given === 'string' ? given : '';
}

/**
 * The message of a page after an error of the user.
 *
 * @throws the error itself where it is a fault of the service
 */
export function noteOf(error: unknown): { readonly status: number; readonly note: Note } {
  if (!(error instanceof ServiceError)) throw error;
  const text = error.message
    .replace(/^body\.newPassword|^body\.password/, 'The password')
    .replace(/^body\.email/, 'The email');
  return { status: error.status, note: { kind: 'fail', text } };
}

/** Validates a path of the service in a link; returns the dashboard for anything else, such as another site. */
export function localPath(next: string): string {
  // Browsers read a backslash as a slash, and drop tabs and line breaks.
  return /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(next) ? next : '/';
}
