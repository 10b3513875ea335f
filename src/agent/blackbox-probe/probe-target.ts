import { CHECK_SHAPES, type Check } from '../../model/check/check.ts';
import { hasScripts } from '../../model/check/scripts.ts';
import { compileTemplate } from '../../model/check/template.ts';
import { credentialTexts } from '../../model/credentials/credential-fields.ts';
import { targetOf } from '../../model/credentials/credential-target.ts';
import { hostAndPort } from '../config/parsers.ts';
import { targetOfRequest } from '../metrics/check-labels.ts';

export type Retargeted =
  | { readonly ok: true; readonly check: Check }
  /** A line for the client. */
  | { readonly ok: false; readonly problem: string };

const MAX_TARGET_CHARS = 2048;

/**
 * The check with another target: the URL of URL and API checks, host and port of TCP, the name
 * server of DNS, the host of ICMP checks. A client must not have secrets of the check sent to a
 * target of its choice: a check with credentials, templates or scripts (which read variables)
 * accepts only its own scheme, host and port. Literal data and bodies are not secret: results do
 * not mask them either.
 */
export function withTarget(check: Check, target: string): Retargeted {
  const refuse = (problem: string): Retargeted => ({ ok: false, problem });
  // A template would put values of variables into the request.
  if (target.includes('{{')) return refuse('target must not contain templates');
  if (target.length > MAX_TARGET_CHARS) {
    return refuse(`target must have at most ${MAX_TARGET_CHARS} characters`);
  }
  const request = { ...check.request, ...fieldsOf(check, target) };
  const parsed = CHECK_SHAPES[check.checkType].shape.request.safeParse(request);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join('.') ?? '';
    return refuse(`target is wrong for a ${check.checkType} check: ${field} ${issue?.message}`);
  }
  if (hasSecrets(check) && addressOf(parsed.data) !== addressOf(check.request)) {
    return refuse(
      'target must have the scheme, host and port of the check, because it has credentials, variables or scripts',
    );
  }
  // The compiler cannot see that the request is of the type of the check.
  return { ok: true, check: { ...check, request: parsed.data } as Check };
}

function fieldsOf(check: Check, target: string): Readonly<Record<string, unknown>> {
  switch (check.checkType) {
    case 'URL':
    case 'API':
      return { url: /^https?:\/\//i.test(target) ? target : `http://${target}` };
    case 'TCP':
      return hostOf(target);
    case 'DNS': {
      const { hostname, ...port } = hostOf(target);
      return { nameServer: hostname, ...port };
    }
    case 'ICMP':
      return { hostname: target };
  }
}

/** If the target has no port, the check keeps its own. */
function hostOf(target: string): { readonly hostname: string; readonly port?: number } {
  const parsed = hostAndPort(target);
  return parsed.ok ? parsed.value : { hostname: target };
}

function hasSecrets(check: Check): boolean {
  const { request } = check;
  return (
    credentialTexts(request).size > 0 || textsIn(request).some(isTemplate) || hasScripts(check)
  );
}

function isTemplate(text: string): boolean {
  return compileTemplate(text) !== null;
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

function addressOf(request: Check['request']): string {
  if ('url' in request) return targetOf(request).address;
  if ('query' in request) return `${request.nameServer}:${request.port}`;
  return targetOfRequest(request);
}
