/** The pictures of a status page, by the fields of the page that contain their URLs. */
export const PICTURE_KINDS = ['logo', 'favicon'] as const;
export type PictureKind = (typeof PICTURE_KINDS)[number];

export const PICTURE_TYPES = ['image/png', 'image/webp'] as const;

/** A picture as the service made it from a fetched one. */
export type Picture = {
  readonly type: (typeof PICTURE_TYPES)[number];
  readonly width: number;
  readonly height: number;
  readonly bytes: Buffer;
};

export type PictureOutcome = { readonly ok: true; readonly picture: Picture } | PictureFailure;

export interface PictureFailure {
  readonly ok: false;
  /** Completes "the logo could not be fetched: ". */
  readonly problem: string;
  /** Whether a retry cannot succeed until the file at the URL changes. */
  readonly isFinal: boolean;
}

export function refused(problem: string): PictureFailure {
  return { ok: false, problem, isFinal: true };
}

export function failed(problem: string): PictureFailure {
  return { ok: false, problem, isFinal: false };
}
