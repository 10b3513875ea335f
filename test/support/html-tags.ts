/** Elements without an end tag. */
const VOID = ['!doctype', 'meta', 'link', 'input', 'wbr'];
const TAG = /<(\/?)([a-z!][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"<>]*")?)*)\s*(\/?)>/gi;

/**
 * Reads a page with strict rules: no markup characters outside of tags, quoted attributes, and all
 * elements closed in order.
 *
 * @returns the names of its elements and its attributes, as `a href`
 * @throws Error if the page is not well-formed
 */
export function readTags(html: string): { readonly names: ReadonlySet<string> } {
  const names = new Set<string>();
  const open: string[] = [];
  const text = html
    .replace(/<style>[^<]*<\/style>/, '')
    .replaceAll(TAG, (_, end, tag, attributes, closed) => {
      const name = tag.toLowerCase();
      if (end === '/') {
        const last = open.pop();
        if (last !== name) throw new Error(`</${name}> ends <${last}>`);
      } else {
        names.add(name);
        for (const [, attribute] of attributes.matchAll(/([a-z-]+)="/gi))
          names.add(`${name} ${attribute}`);
        if (!VOID.includes(name) && closed !== '/') open.push(name);
      }
      return ' ';
    });
  const stray = /.{0,40}(?:[<>]|&(?!(?:amp|lt|gt|quot|#39);)).{0,40}/.exec(text);
  if (stray !== null) throw new Error(`not escaped: ${stray[0]}`);
  if (open.length > 0) throw new Error(`never ended: ${open.join(', ')}`);
  return { names };
}
