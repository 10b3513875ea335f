/** The day and time of every example. */
const DAY = '2026-01-31';
const TIME = `${DAY}T12:00:00.000Z`;
const TIME_MS = Date.parse(TIME);
const ORIGIN = 'https://vedette.example.com';

/** A PEM block, which differs in each run. */
const PEM = /(-----BEGIN [A-Z ]+-----)[\s\S]+?(-----END [A-Z ]+-----)/g;
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Replaces what differs in each run, and every secret, by values that are always the same. */
export function stableExamples(): (value: unknown) => unknown {
  const ids = new Map<string, string>();
  const stableId = (id: string): string => {
    const known = ids.get(id);
    if (known !== undefined) return known;
    const made = `00000000-0000-4000-8000-${String(ids.size + 1).padStart(12, '0')}`;
    ids.set(id, made);
    return made;
  };
  const stableText = (text: string): string => {
    // Times of requests are in another century.
    if (/^20\d\d-\d\d-\d\dT[\d:.]+Z$/.test(text)) return TIME;
    if (/^20\d\d-\d\d-\d\d [\d:]{8}$/.test(text)) return `${DAY} 12:00:00`;
    if (/^20\d\d-\d\d-\d\d$/.test(text)) return DAY;
    return (
      text
        .replace(/\bat 20\d\d-\d\d-\d\dT[\d:.]+Z/g, `at ${TIME}`)
        // The age of an expired certificate grows each day.
        .replace(/\b\d+ days before this run/g, '30 days before this run')
        .replace(UUID, stableId)
        .replace(/https?:\/\/127\.0\.0\.1:\d+/, ORIGIN)
        .replace(/\b(vk|pl)_[0-9a-f]+/g, (key) => `${key.slice(0, 3)}${'0'.repeat(key.length - 3)}`)
        .replace(
          /(\/(?:heartbeat|invitations)\/)[\w-]{20,}$/,
          (_, before: string) => `${before}TOKEN`,
        )
        .replace(PEM, '$1\n…\n$2')
    );
  };
  const stable = (value: unknown, field: string): unknown => {
    if (Array.isArray(value)) return value.map((each) => stable(each, field));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, stable(inner, name)]),
      );
    }
    if (field === 'id' && typeof value === 'number') return 1;
    if (field === 'pingToken') return 'TOKEN';
    if (field === 'lastFour') return '0000';
    if (field === 'durationMs') return 100;
    // How much of a limit is in use depends on what the fixture makes.
    if (field === 'used') return 7;
    if (/checkRunId$/i.test(field)) return typeof value === 'number' ? TIME_MS : String(TIME_MS);
    return typeof value === 'string' ? stableText(value) : value;
  };
  return (value) => stable(value, '');
}
