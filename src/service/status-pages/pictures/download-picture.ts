import { type Dispatcher, request } from 'undici';
import type { Clock } from '../../../runtime/clock.ts';
import type { Proxies } from '../../../runtime/net/proxy/choose-proxy.ts';
import { VERSION } from '../../../runtime/version.ts';
import { dispatcherFor, isDenied, reasonOf } from '../../outgoing/outgoing-http.ts';
import type { ReachableAddresses } from '../../outgoing/reachable-addresses.ts';
import { failed, type PictureFailure, refused } from './picture.ts';

type Download = { readonly ok: true; readonly bytes: Buffer } | PictureFailure;

export interface PictureDownloads {
  /** Never rejects. */
  download(url: string, signal: AbortSignal): Promise<Download>;
  close(): Promise<void>;
}

/** File size limit, documented in src/service/README.md, "Pictures of status pages". */
const MAX_BYTES = 1024 * 1024;
/** From the lookup of the name to the last byte, redirects included. */
const LIMIT_MS = 10_000;
const MAX_REDIRECTS = 3;
const REDIRECTS = [301, 302, 303, 307, 308];

export interface PictureDownloadsParts {
  readonly clock: Clock;
  readonly reachable: ReachableAddresses;
  readonly proxies: Proxies;
}

/** Downloads files of at most 1 MiB, from addresses that may be reached, also after redirects. */
export function createPictureDownloads(parts: PictureDownloadsParts): PictureDownloads {
  const { clock, reachable, proxies } = parts;
  const dispatcher = dispatcherFor(reachable, proxies);

  async function follow(first: URL, signal: AbortSignal): Promise<Download> {
    let url = first;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const answer = await request(url, {
        dispatcher,
        method: 'GET',
        headers: {
          'user-agent': `vedette/${VERSION}`,
          accept: 'image/png, image/webp, image/jpeg, image/gif, image/x-icon',
          'accept-encoding': 'identity',
        },
        signal,
        // No connection is used again.
        reset: true,
      });
      if (!REDIRECTS.includes(answer.statusCode)) return await contentOf(answer);
      discard(answer.body);
      const target = targetOf(answer, url);
      if (target === null) {
        return failed(`the response was the redirect ${answer.statusCode} to no http or https URL`);
      }
      url = target;
    }
    return failed(`there were more than ${MAX_REDIRECTS} redirects`);
  }

  return {
    async download(url, signal) {
      const late = new AbortController();
      const cancel = clock.after(LIMIT_MS, () => late.abort());
      try {
        return await follow(new URL(url), AbortSignal.any([signal, late.signal]));
      } catch (thrown) {
        if (late.signal.aborted)
          return failed(`the file did not arrive within ${LIMIT_MS / 1000} s`);
        if (signal.aborted) return failed('the service stopped');
        return isDenied(thrown) ? refused(reasonOf(thrown)) : failed(reasonOf(thrown));
      } finally {
        cancel();
      }
    },
    close: () => dispatcher.destroy(),
  };
}

/** null if there is none that may be followed. */
function targetOf({ headers }: Dispatcher.ResponseData, from: URL): URL | null {
  const { location } = headers;
  if (typeof location !== 'string' || !URL.canParse(location, from.href)) return null;
  const target = new URL(location, from.href);
  return target.protocol === 'http:' || target.protocol === 'https:' ? target : null;
}

async function contentOf({ statusCode, body }: Dispatcher.ResponseData): Promise<Download> {
  try {
    if (statusCode !== 200) return failed(`the response was the status ${statusCode}`);
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of body) {
      parts.push(Buffer.from(part));
      bytes += part.length;
      if (bytes > MAX_BYTES) {
        return refused(`the file is larger than ${MAX_BYTES / 1024 / 1024} MiB`);
      }
    }
    return { ok: true, bytes: Buffer.concat(parts) };
  } finally {
    discard(body);
  }
}

/** Destroying a body that has not ended emits an error, which nobody else listens for. */
function discard(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => {});
  body.destroy();
}
