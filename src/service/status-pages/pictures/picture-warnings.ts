import type { Warning } from '../../http/resources/warnings.ts';
import { PICTURE_KINDS, type PictureKind } from './picture.ts';
import type { PictureState } from './pictures.sql.ts';

/** Keyed by kind; a picture without any attempt to fetch it is missing. */
export type PictureStates = Readonly<Partial<Record<PictureKind, PictureState>>>;

/** Warnings about the pictures of a page that are not shown yet. */
export function pictureWarnings(
  urls: Readonly<Record<PictureKind, string | null>>,
  states: PictureStates,
): readonly Warning[] {
  return PICTURE_KINDS.flatMap((kind): readonly Warning[] => {
    const url = urls[kind];
    const state = states[kind];
    if (url === null || (state !== undefined && state.fetchedUrl === url)) return [];
    const shows = `the page shows ${(state?.hash ?? null) === null ? 'none' : 'the one before'}`;
    const warning = { code: 'PICTURE_NOT_FETCHED', path: kind } as const;
    if (state === undefined || state.url !== url || state.problem === null) {
      const message = `The ${kind} is still being fetched; until then ${shows}.`;
      return [{ ...warning, message }];
    }
    const next = state.isRetried
      ? 'The service tries again; until then'
      : 'To try again, save the page or call fetch-pictures; until then';
    const message = `The ${kind} could not be fetched: ${state.problem}. ${next} ${shows}.`;
    return [{ ...warning, message }];
  });
}
