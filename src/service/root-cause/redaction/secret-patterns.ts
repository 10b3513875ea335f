import { MASK } from '../../../model/credentials/mask.ts';
import { sensitiveSpans } from './named-values.ts';

/** Patterns of texts that look like a secret. */

type Step = (text: string) => string;

const replacing =
  (pattern: RegExp, by: string): Step =>
  (text) =>
    text.replaceAll(pattern, by);

const hasAllKinds = (token: string): boolean =>
  /[a-z]/.test(token) && /[A-Z]/.test(token) && /\d/.test(token);

/** The order matters: later patterns may match inside of earlier ones. */
const STEPS: readonly Step[] = [
  // Private keys, also truncated, and with line breaks in any form.
  replacing(
    /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[^-]{0,10}-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}-----|$)/g,
    MASK,
  ),
  // Credentials in URLs, with or without escaped slashes.
  replacing(/([A-Za-z][A-Za-z0-9+.-]{0,20}:(?:\\{0,15}\/){2})[^\s/?#"'<>\\]*@/g, `$1${MASK}@`),
  // The query and the fragment of a URL.
  replacing(
    /([A-Za-z][A-Za-z0-9+.-]{0,20}:(?:\\{0,15}\/){2}[^\s"'<>?#]*)[?#][^\s"'<>]*/g,
    `$1?${MASK}`,
  ),
  // A URL inside of a URL.
  replacing(
    /[A-Za-z][A-Za-z0-9+.-]{0,20}%(?:25)*3[Aa]%(?:25)*2[Ff]%(?:25)*2[Ff][^\s"'<>&]*/g,
    MASK,
  ),
  replacing(/([?&;][\w.[\]%~-]{1,100}=)[^\s&"'<>#;]+/g, `$1${MASK}`),
  // RFC 9110 11.4, RFC 6750.
  replacing(/\b(Bearer|Digest|Negotiate)(\s+)[\w.~+/=:"-]{4,}/gi, `$1$2${MASK}`),
  // These are also ordinary words.
  masking(/\b(?:Basic|Token|ApiKey)\s+[\w.~+/=:"-]{4,}/gi, (text) =>
    /\d|\s\S*[a-z]\S*[A-Z]|\s\S*[A-Z]\S*[a-z]|\s\S{16}/.test(text),
  ),
  maskNamed,
  // RFC 7519, with or without a signature.
  replacing(/\beyJ[\w-]{5,}(?:\.[\w-]*){1,4}/g, MASK),
  // Keys by the prefixes of their issuers.
  replacing(/\b(?:vk|pl)_[0-9A-Fa-f]{8,}/g, MASK),
  replacing(/\b(?:AKIA|ASIA|AROA|AIDA|AGPA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{12,}/g, MASK),
  replacing(
    /\b(?:gh[opusr]_|github_pat_|glpat-|xox[abeoprs]-|[rsp]k[-_](?:live_|test_|proj-)?|AIza|ya29\.|npm_|dop_v1_|SG\.|hf_|key-|pat-)[\w.-]{10,}/g,
    MASK,
  ),
  // Forty characters of base64 are a secret access key; more, a key or something encoded.
  masking(/(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40,}={0,2}(?![A-Za-z0-9+/=])/g, hasAllKinds),
  masking(/[\w+=-]{20,}/g, hasAllKinds),
  masking(/[0-9A-Fa-f-]{32,}/g, (token) => /\d/.test(token) && /[A-Fa-f]/.test(token)),
];

export function maskPatterns(text: string): string {
  return STEPS.reduce((masked, step) => step(masked), text);
}

function masking(pattern: RegExp, isSecret: (token: string) => boolean): Step {
  return (text) => text.replaceAll(pattern, (token) => (isSecret(token) ? MASK : token));
}

function maskNamed(text: string): string {
  let masked = '';
  let done = 0;
  for (const { from, to } of sensitiveSpans(text)) {
    if (from < done || from === to) continue;
    masked += `${text.slice(done, from)}${MASK}`;
    done = to;
  }
  return masked + text.slice(done);
}
