import sharp from 'sharp';
import type { ShownPage } from '../../../src/web/status/layout.tsx';

/** Twice as large as it is shown. */
const LOGO = { width: 320, height: 80 };
const ICON = { width: 64, height: 64 };

/** The logo and icon of the sample pages, as the service stores them. */
export const SAMPLE_PICTURES: ShownPage['page']['pictures'] = {
  logo: { hash: 'logo-hash', ...LOGO },
  favicon: { hash: 'icon-hash', ...ICON },
};

const MARK = '<path d="M40 6L74 74H58L40 36 22 74H6z" fill="#e4572e"/>';
/** The letters CME, drawn: the machine may have no fonts. In a grey that light and dark pages show. */
const LETTERS =
  '<path d="M150 28a22 22 0 1 0 0 24M176 62V18l22 28 22-28v44M290 20h-40v40h40M250 40h32" fill="none" stroke="#7b8794" stroke-width="10" stroke-linejoin="round"/>';

/** PNG files by their paths. */
export async function samplePictureFiles(): Promise<ReadonlyMap<string, Buffer>> {
  const png = (size: { width: number; height: number }, viewBox: string, content: string) =>
    sharp(
      Buffer.from(
        `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}" viewBox="${viewBox}">${content}</svg>`,
      ),
    )
      .png()
      .toBuffer();
  return new Map([
    ['/status/acme/logo', await png(LOGO, '0 0 320 80', MARK + LETTERS)],
    ['/status/acme/favicon', await png(ICON, '0 0 80 80', MARK)],
  ]);
}
