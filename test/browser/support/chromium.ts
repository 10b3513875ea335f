/** From Debian's package chromium. */
export const CHROMIUM = '/usr/bin/chromium';

/** The tests run as root, for which Chromium has no sandbox. They open only our own pages. */
export const LAUNCH = { executablePath: CHROMIUM, args: ['--no-sandbox'] };
