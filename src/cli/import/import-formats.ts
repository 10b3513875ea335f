/** The formats of `vedette import --from`. Modules and scrape jobs are two files of one format. */
export const IMPORT_FORMATS = ['blackbox', 'gatus', 'uptime-kuma', 'file-sd'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];
