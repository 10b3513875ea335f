/**
 * What of a proxy's url nobody else is to know, as it stands and percent-decoded: its password, or
 * its user name where that is a token without a password. A user name beside a password is none:
 * it is a word like `proxy` as a rule, and masking it would blank that word everywhere.
 */
export function credentialsOf(proxyUrl: string | null): readonly string[] {
  if (proxyUrl === null) return [];
  const text = proxyUrl.includes('://') ? proxyUrl : `http://${proxyUrl}`;
  if (!URL.canParse(text)) return [];
  const { username, password } = new URL(text);
  const secret = password === '' ? username : password;
  if (secret === '') return [];
  // As it was written, too: the parser encodes some characters by itself.
  const written = /:\/\/[^/?#]*@/.exec(text)?.[0].slice(3, -1) ?? '';
  const asWritten = password === '' ? written.replace(/:$/, '') : written.replace(/^[^:]*:/, '');
  return [...new Set([secret, asWritten, decoded(secret)])].filter((one) => one !== '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
