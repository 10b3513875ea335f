/** RFC 9110 12.4.2. */
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** The weights in a header such as Accept, by value in lower case without parameters. */
export function weightsIn(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const item of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    const given = parameters.find((parameter) => parameter.startsWith('q='));
    const weight = given === undefined ? 1 : Number(WEIGHT.exec(given)?.[1] ?? 0);
    if (name !== '') weights.set(name, weight);
  }
  return weights;
}
