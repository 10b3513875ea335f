import { type Ask, askService, type Reply } from '../service/service-app.ts';

/** A browser as the service sees it: stores cookies, and sends the headers of a browser. */
export interface Browser {
  /** `name=value` of the session's cookie; null if there is none. */
  cookie: string | null;
  /** The same of the cookie that marks a known browser. */
  device: string | null;
  ask(path: string, ask?: Ask): Promise<Reply>;
  /** Sends a form as its page does. */
  submit(path: string, fields: Readonly<Record<string, string>>): Promise<Reply>;
}

export function openBrowser(port: number, origin = `http://127.0.0.1:${port}`): Browser {
  const browser: Browser = {
    cookie: null,
    device: null,
    async ask(path, { headers = {}, ...ask } = {}) {
      const cookies = [browser.cookie, browser.device].filter((each) => each !== null);
      const reply = await askService(port, path, {
        key: null,
        ...ask,
        headers: {
          ...(ask.method === undefined || ask.method === 'GET' ? {} : { origin }),
          ...(cookies.length === 0 ? {} : { cookie: cookies.join('; ') }),
          ...headers,
        },
      });
      for (const given of reply.headers['set-cookie'] ?? []) {
        const [pair = ''] = given.split(';');
        if (/vedette_device=/.test(pair)) browser.device = pair;
        else browser.cookie = /=$/.test(pair) ? null : pair;
      }
      return reply;
    },
    submit: (path, fields) =>
      browser.ask(path, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(fields).toString(),
      }),
  };
  return browser;
}
