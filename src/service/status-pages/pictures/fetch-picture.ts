import { createPictureDecoder } from './decode-picture.ts';
import { createPictureDownloads, type PictureDownloadsParts } from './download-picture.ts';
import { type PictureKind, type PictureOutcome, refused } from './picture.ts';
import { formatOf } from './picture-format.ts';

/** Where the pictures of pages come from. */
export interface PictureSource {
  /** Never rejects. Files wait in memory for the decoder, so the caller must limit concurrent fetches. */
  fetch(kind: PictureKind, url: string, signal: AbortSignal): Promise<PictureOutcome>;
  close(): Promise<void>;
}

export interface PictureSourceParts extends PictureDownloadsParts {
  /** The compiled picture-worker.js; default: beside this module. */
  readonly workerUrl?: URL;
}

const DEFAULT_WORKER_URL = new URL('./picture-worker.js', import.meta.url);
/** In pixels: twice what a page and a browser show, for screens of high density. */
const SIZES: Readonly<
  Record<PictureKind, { readonly maxWidth: number; readonly maxHeight: number }>
> = { logo: { maxWidth: 800, maxHeight: 320 }, favicon: { maxWidth: 192, maxHeight: 192 } };

export function createPictureSource(parts: PictureSourceParts): PictureSource {
  const downloads = createPictureDownloads(parts);
  const decoder = createPictureDecoder(parts.clock, parts.workerUrl ?? DEFAULT_WORKER_URL);

  return {
    async fetch(kind, url, signal) {
      const file = await downloads.download(url, signal);
      if (!file.ok) return file;
      const found = formatOf(file.bytes);
      if (!found.ok) return refused(found.problem);
      return await decoder.decode({ format: found.format, ...SIZES[kind] }, file.bytes, signal);
    },
    close: () => downloads.close(),
  };
}
