import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { messageOf, systemCodeOf } from '../../runtime/errors.ts';
import { replaceFile } from '../../runtime/files/replace-file.ts';

/** By platform, the program that opens a file like a double click, and its arguments before the file. */
const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/d', '/c', 'start', ''],
};
const STANDARD_OPENER = ['xdg-open'] as const;

/**
 * Opens a URL in the browser of the user. The command line contains only the path of a file that redirects to
 * the URL: the URL may sign in, and every user of the machine can read command lines.
 *
 * @param report called with one line if the browser cannot be opened; also later
 */
export async function openBrowser(
  { file, url }: { readonly file: string; readonly url: string },
  report: (line: string) => void,
): Promise<void> {
  const [program, ...args] = OPENERS[process.platform] ?? STANDARD_OPENER;
  const failed = (why: string): void => {
    report(`the browser was not opened: ${program} ${why}; open the sign-in address yourself`);
  };
  try {
    // The URL needs no escapes in HTML: its host is an address or a name.
    const page = `<!doctype html><meta charset="utf-8"><title>Vedette</title><meta http-equiv="refresh" content="0;url=${url}"><a href="${url}">Sign in</a>\n`;
    await replaceFile(file, page, { durable: false });
  } catch (error) {
    failed(`needs ${file}, which cannot be written (${systemCodeOf(error) ?? messageOf(error)})`);
    return;
  }
  const child = spawn(program, [...args, resolve(file)], { detached: true, stdio: 'ignore' });
  child.once('error', (error) => failed(`could not be started (${systemCodeOf(error)})`));
  child.once('exit', (code) => {
    if (code !== null && code !== 0) failed(`ended with exit code ${code}`);
  });
  // The browser may outlast `up`.
  child.unref();
}
