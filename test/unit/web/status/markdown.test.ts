import { describe, expect, it } from 'vitest';
import { markdownHtml } from '../../../../src/web/status/markdown.ts';

const KIB = 1024;

function html(text: string): string {
  const [, inner = ''] =
    /^<div class="markdown" dir="auto">(.*)<\/div>$/s.exec(markdownHtml(text)) ?? [];
  return inner;
}

/** The tags that are not those of our own HTML. */
function foreignTags(made: string): readonly string[] {
  const tags = made.match(/<[^>]*>/g) ?? [];
  const own =
    /^<\/?(?:div class="markdown(?: plain)?" dir="auto"|div|p|h[3-6]|pre tabindex="0"|pre|code|blockquote|ul|ol(?: start="\d+")?|li|table|thead|tbody|tr|th scope="col"|th|td|hr|strong|em|del|br|a(?: href="(?:https?:\/\/|mailto:)[^"<>]*" rel="nofollow noopener")?)>$/;
  return tags.filter((tag) => !own.test(tag));
}

const fill = (unit: string, length = 64 * KIB): string =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length);

describe('the Markdown of post-mortems', () => {
  it('has headings below those of the page, paragraphs, lists, quotes, code and tables', () => {
    expect(
      html(
        '# Why\n\nThe **disk** was *full*, `df` ~~said~~.\n\n###### Deep\n\n- a\n- b\n\n3. c\n\n> d',
      ),
    ).toBe(
      '<h3>Why</h3><p>The <strong>disk</strong> was <em>full</em>, <code>df</code> <del>said</del>.</p>' +
        '<h6>Deep</h6><ul><li>a</li><li>b</li></ul><ol start="3"><li>c</li></ol><blockquote><p>d</p></blockquote>',
    );
    expect(html('```sh\nrm <all>\n```')).toBe(
      '<pre tabindex="0"><code>rm &lt;all&gt;</code></pre>',
    );
    expect(html('| a | b |\n|---|---|\n| 1 | *2* |')).toBe(
      '<table><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead><tbody><tr><td>1</td><td><em>2</em></td></tr></tbody></table>',
    );
    expect(html('- [x] done\n- [ ] open')).toBe('<ul><li>☑ done</li><li>☐ open</li></ul>');
  });

  it('has character references as the characters that they name', () => {
    expect(html('a &copy; b &#8212; & c &lt;b&gt;')).toBe('<p>a &copy; b — &amp; c &lt;b&gt;</p>');
    expect(html('`&copy;`')).toBe('<p><code>&amp;copy;</code></p>');
  });

  it('has links to http, https and mailto, without a recommendation', () => {
    const rel = 'rel="nofollow noopener"';
    expect(html('[a *b*](https://a.test/?x=1&y=2 "title")')).toBe(
      `<p><a href="https://a.test/?x=1&amp;y=2" ${rel}>a <em>b</em></a></p>`,
    );
    expect(html('<http://a.test>')).toBe(
      `<p><a href="http://a.test/" ${rel}>http://a.test</a></p>`,
    );
    expect(html('<ops@a.test>')).toBe(`<p><a href="mailto:ops@a.test" ${rel}>ops@a.test</a></p>`);
    expect(html('[a][r]\n\n[r]: HTTPS://a.test/b')).toBe(
      `<p><a href="https://a.test/b" ${rel}>a</a></p>`,
    );
  });

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    '\u0001javascript:alert(1)',
    'javascript&#58;alert(1)',
    'javascript&colon;alert(1)',
    '&#106;avascript:alert(1)',
    'javascript%3Aalert(1)',
    '<javascript:alert(1)>',
    'vbscript:x',
    'data:text/html;base64,PHNjcmlwdD4=',
    'blob:https://a.test/1',
    'file:///etc/passwd',
    '//other.test/a',
    '/status/a',
    '\\\\other.test',
    'ftp://a.test',
    'x" onclick="alert(1)',
  ])('has no link to %j', (target) => {
    for (const text of [`[a](${target})`, `[a][r]\n\n[r]: ${target}`, `![a](${target})`]) {
      const made = markdownHtml(text);
      expect(made).not.toContain('href');
      expect(foreignTags(made)).toEqual([]);
    }
  });

  it('has no image: a link says where it is', () => {
    const made = html(
      '![a *b*](https://other.test/p.png) [![c](https://other.test/q.png)](http://a.test)',
    );
    expect(made).not.toContain('<img');
    expect(made).toContain(
      '<a href="https://other.test/p.png" rel="nofollow noopener">a <em>b</em></a>',
    );
    expect(made).toContain('<a href="http://a.test/" rel="nofollow noopener">c</a>');
  });

  it.each([
    '<script>alert(1)</script>',
    'a <img src=x onerror=alert(1)> b',
    '<svg/onload=alert(1)>',
    '<a href="javascript:alert(1)">a</a>',
    '<style>*{display:none}</style>',
    '<!-- --><iframe src=//other.test></iframe>',
    '<div\n\n<b>',
    '</div></main><h1>x',
    '**<b onmouseover=alert(1)>**',
    '[<img src=x>](https://a.test)',
    '![<img src=x>](https://a.test)',
    '`<b>`',
    '| <b> |\n|---|\n| <script> |',
    '[a](https://a.test/"onclick="alert)',
    '[a](<https://a.test/"><script>>)',
    'https://a.test/"><script>',
    '# <b>',
    '```"><script>\n<b>\n```',
    '\u2028<b>\u0000<i>',
  ])('has HTML as text: %j', (text) => {
    expect(foreignTags(markdownHtml(text))).toEqual([]);
  });

  it.each([
    ['quotes in quotes', fill('>')],
    ['lists in lists', fill('* - ')],
    ['quotes and lists', fill('> - ')],
    ['quotes that go on', fill('> - a\nb\n')],
    [
      'quotes of fewer and fewer levels',
      Array.from({ length: 300 }, (_, at) => `${'>'.repeat(300 - at)}a`).join('\n'),
    ],
    ['a list that goes on', `- ${fill('a\n')}`],
    ['very many short lines', fill('\n')],
  ])('that would take too long appears as it was written: %s', (_, text) => {
    const made = markdownHtml(text);
    expect(made).toContain('class="markdown plain"');
    expect(made.length).toBeLessThan(6 * text.length + KIB);
    expect(foreignTags(made)).toEqual([]);
  });

  it.each([
    [
      'a table of thousands of columns and rows',
      `|${'a|'.repeat(5_000)}\n|${'-|'.repeat(5_000)}\n${'|\n'.repeat(1_900)}`,
    ],
    [
      'many tables',
      fill(`|${'a|'.repeat(20)}\n|${'-|'.repeat(20)}\n${'|\n'.repeat(50)}\n`, 30 * KIB),
    ],
    ['brackets', fill('[')],
    ['images of images', fill('![')],
    ['links without an end', fill('[a](')],
    ['emphasis that does not end', fill('*a **b ')],
    ['emphasis in emphasis', '*a '.repeat(9_000) + 'a*'.repeat(9_000)],
    ['code of growing fences', Array.from({ length: 350 }, (_, at) => '`'.repeat(at)).join(' ')],
    ['HTML that does not end', fill('<!--')],
    ['backslashes', fill('\\')],
    ['character references', fill('&#')],
    ['addresses', fill('http://a ')],
  ])('stays of bounded size: %s', (_, text) => {
    const made = markdownHtml(text);
    expect(made.length).toBeLessThan(16 * text.length + KIB);
    expect(foreignTags(made)).toEqual([]);
  });
});
