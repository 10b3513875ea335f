import { isIP } from 'node:net';
import { absoluteName } from '../message/names.ts';

/** The settings of resolv.conf(5), with its defaults. */
export interface ResolvConf {
  /** Three at most; 127.0.0.1 if the file names none. */
  readonly nameServers: readonly [string, ...string[]];
  readonly search: readonly string[];
  /** Names with fewer dots are tried below the search list first; 0..15. */
  readonly ndots: number;
  /** Milliseconds for one server and one attempt; 1000..30,000. */
  readonly timeoutMs: number;
  /** Rounds over all servers; 1..5. */
  readonly attempts: number;
  /** Begin with another server each time. */
  readonly rotate: boolean;
  readonly useTcp: boolean;
}

const MAX_NAME_SERVERS = 3;
/** The C library accepts any number; each costs a query for every unknown name. */
const MAX_SEARCH = 32;

/**
 * Reads resolv.conf(5). Skips unknown lines, as the C library does. `hostname` is this machine's:
 * its domain is searched if the file names no list.
 */
export function parseResolvConf(text: string, hostname: string): ResolvConf {
  const nameServers: string[] = [];
  let search: readonly string[] | null = null;
  const options = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [keyword, ...words] = line
      .replace(/[#;].*$/s, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'nameserver' && isIP(words[0] ?? '') !== 0) nameServers.push(words[0] ?? '');
    else if (keyword === 'search') search = words;
    else if (keyword === 'domain') search = words.slice(0, 1);
    else if (keyword === 'options') {
      for (const word of words) {
        const [name = '', value = ''] = word.split(':');
        options.set(name, Number.parseInt(value, 10));
      }
    }
  }
  const [first = '127.0.0.1', ...others] = nameServers;
  return {
    nameServers: [first, ...others.slice(0, MAX_NAME_SERVERS - 1)],
    search: (search ?? domainOf(hostname)).filter((domain) => domain !== '.').slice(0, MAX_SEARCH),
    ndots: within(options.get('ndots'), 0, 1, 15),
    timeoutMs: within(options.get('timeout'), 1, 5, 30) * 1000,
    attempts: within(options.get('attempts'), 1, 2, 5),
    rotate: options.has('rotate'),
    useTcp: options.has('use-vc'),
  };
}

function domainOf(hostname: string): readonly string[] {
  const dot = hostname.indexOf('.');
  return dot < 0 || dot === hostname.length - 1 ? [] : [hostname.slice(dot + 1)];
}

function within(value: number | undefined, least: number, otherwise: number, most: number): number {
  if (value === undefined || Number.isNaN(value)) return otherwise;
  return Math.min(Math.max(value, least), most);
}

/**
 * The absolute names to try for a host name, in order (resolv.conf(5), `search` and `ndots`): the
 * name as given comes first if it has `ndots` dots or more, else last. `name` is absolute;
 * `hasTrailingDot`: the user wrote the dot, so the search list does not apply. Leaves out names
 * that become too long with a domain.
 */
export function candidateNames(
  name: string,
  hasTrailingDot: boolean,
  { search, ndots }: Pick<ResolvConf, 'search' | 'ndots'>,
): readonly string[] {
  if (hasTrailingDot) return [name];
  const dots = name.split('.').length - 2;
  const below = search.flatMap((domain) => absoluteName(`${name}${domain}`) ?? []);
  return dots >= ndots ? [name, ...below] : [...below, name];
}
