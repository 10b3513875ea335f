/**
 * The text of a header field or reason phrase that was read with one character per byte: as UTF-8,
 * which servers send and browsers understand, or as Latin-1 if it is not UTF-8. No character is
 * lost, so the secrets in it are found and masked.
 */
export function decodedHeaderText(text: string): string {
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.toString('latin1') !== text) return text;
  const decoded = bytes.toString('utf8');
  return decoded.includes('\ufffd') ? text : decoded;
}
