/** The style sheet of the handbook and of the page of the API, in both themes and on paper. */
export const STYLE = `
:root { color-scheme: light; --bg: #f7f8f8; --surface: #fff; --ink: #16191d; --muted: #5d6670; --line: #e3e6e8; --line-strong: #cdd2d6; --link: #0b57d0; --soft: #eceff1; --mark: #fdf0cf; --target: #eaf1fd; --get: #0b57d0; --post: #1f7a4a; --put: #8a5a00; --delete: #b42323;
  --mono: 12.5px/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace }
@media screen and (prefers-color-scheme: dark) { :root { color-scheme: dark; --bg: #0e1113; --surface: #15191c; --ink: #e8ebee; --muted: #a0a9b2; --line: #252b30; --line-strong: #38414a; --link: #8ab4f8; --soft: #1f252a; --mark: #4a3a10; --target: #16243a; --get: #8ab4f8; --post: #63cf97; --put: #f0c35a; --delete: #ff8585 } }
* { box-sizing: border-box }
html { scroll-padding-top: 64px; -webkit-text-size-adjust: 100% }
body { margin: 0; background: var(--bg); color: var(--ink); font: 15px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; font-variant-numeric: tabular-nums }
a { color: var(--link); text-decoration: none }
a:hover { text-decoration: underline }
article :is(p, li, td, dd) a { text-decoration: underline; text-decoration-color: color-mix(in srgb, currentColor 35%, transparent); text-underline-offset: 2px }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px }
.skip { position: absolute; left: -9999px }
.skip:focus { left: 8px; top: 8px; z-index: 2; background: var(--surface); padding: 4px 8px }

.top { position: sticky; top: 0; z-index: 1; display: flex; align-items: center; gap: 16px; min-height: 52px; padding: 8px 24px; background: var(--surface); border-bottom: 1px solid var(--line) }
.brand { display: flex; align-items: center; gap: 8px; color: var(--ink); font-weight: 660 }
.brand:hover { text-decoration: none }
.brand span, .link { color: var(--muted); font-weight: 400 }
.link { padding: 4px 0; white-space: nowrap }
.link[aria-current] { color: var(--ink); font-weight: 600 }
.search { display: flex; gap: 8px; flex: 1; max-width: 420px }
.top .search { margin-left: auto }
.search label { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.search input { flex: 1; min-width: 0; height: 34px; padding: 0 10px; font: inherit; font-size: 14px; color: inherit; background: var(--bg); border: 1px solid var(--line-strong); border-radius: 6px }
.search input::placeholder { color: var(--muted); opacity: 1 }
.search button, .button { display: inline-flex; align-items: center; height: 34px; padding: 0 12px; font: inherit; font-size: 14px; font-weight: 540; color: var(--ink); background: var(--surface); border: 1px solid var(--line-strong); border-radius: 6px; cursor: pointer }
.button.primary { color: var(--surface); background: var(--ink); border-color: var(--ink) }

.page { display: grid; grid-template-columns: 248px minmax(0, 1fr); max-width: 1440px; margin: 0 auto }
main { grid-column: 2; grid-row: 1; padding: 28px 40px 64px; min-width: 0 }
.topics { grid-column: 1; grid-row: 1; align-self: start; position: sticky; top: 52px; max-height: calc(100vh - 52px); overflow-y: auto; padding: 16px 8px 32px 16px; font-size: 13px; line-height: 20px; scrollbar-width: thin }
.contents h2, .topics summary { margin: 16px 8px 4px; font-size: 12px; font-weight: 600; line-height: 16px; color: var(--muted) }
.topics summary { margin: 0; padding: 5px 8px; border-radius: 5px; font-size: 13px; line-height: 20px; cursor: pointer }
.topics summary:hover { background: var(--soft) }
.topics details { margin-bottom: 4px }
.topics details ul { padding: 0 0 6px 13px }
.topics ul, .contents ul { list-style: none; margin: 0; padding: 0 }
.topics li, .contents li { margin: 0 }
.topics a, .contents a { display: block; padding: 3px 8px; border-radius: 5px; color: var(--ink) }
.topics a:hover, .contents a:hover { background: var(--soft); text-decoration: none }
.topics a[aria-current] { background: var(--soft); font-weight: 600 }
.topics-link { display: none }

h1 { font-size: 26px; line-height: 32px; font-weight: 660; letter-spacing: -.015em; margin: 0 0 16px }
.text { display: flex; flex-direction: row-reverse; justify-content: flex-end; gap: 40px; align-items: flex-start }
article { flex: 1; max-width: 820px; min-width: 0 }
.text > article:only-child { max-width: 920px }
.contents { flex: 0 0 200px; position: sticky; top: 68px; max-height: calc(100vh - 84px); overflow-y: auto; margin-top: -12px; font-size: 13px; line-height: 18px }
.contents a { color: var(--muted) }
article section > :is(h2, h3, h4, h5) { margin: 36px 0 8px; line-height: 1.3; font-weight: 640; letter-spacing: -.005em }
article > section:first-child > :first-child { margin-top: 0 }
article h2 { font-size: 20px }
article h3 { font-size: 16.5px }
article h4 { font-size: 15px }
.here { color: var(--muted); font-weight: 400; opacity: 0 }
:is(h2, h3, h4):hover .here, .here:focus { opacity: 1 }
p, ul, ol, pre, table, blockquote { margin: 0 0 14px }
li { margin-bottom: 6px }
ul, ol { padding-left: 22px }
code { font: var(--mono); font-size: .85em; padding: 1px 4px; background: var(--soft); border-radius: 4px; overflow-wrap: anywhere; -webkit-box-decoration-break: clone; box-decoration-break: clone }
a code { color: inherit }
article a:has(> code) { text-decoration: none }
article a:hover > code { text-decoration: underline }
pre { font: var(--mono); overflow-x: auto; padding: 12px 14px; background: var(--surface); border: 1px solid var(--line); border-radius: 8px; tab-size: 2 }
pre code { font: inherit; padding: 0; background: none; overflow-wrap: normal }
blockquote { padding-left: 14px; border-left: 3px solid var(--line-strong); color: var(--muted) }

table { width: 100%; border-collapse: collapse; font-size: 13.5px; line-height: 1.5 }
th { text-align: left; font-size: 12px; font-weight: 540; color: var(--muted); padding: 6px 16px 6px 0; border-bottom: 1px solid var(--line-strong) }
td { vertical-align: top; padding: 8px 16px 8px 0; border-bottom: 1px solid var(--line); min-width: 64px }
td:first-child code { overflow-wrap: break-word }
:is(.columns-3, .columns-4, .columns-5) td:first-child { min-width: 132px }
td:last-child, th:last-child { padding-right: 0 }
tr:target, section:target > :is(h2, h3, h4) { background: var(--target); box-shadow: -8px 0 0 var(--target), 8px 0 0 var(--target) }

footer { padding: 20px 24px; border-top: 1px solid var(--line); color: var(--muted); font-size: 13px; text-align: center }
.lead { font-size: 17px; color: var(--muted); max-width: 60ch }
.start { display: flex; gap: 8px; flex-wrap: wrap; margin-bottom: 28px }
article p.start a { text-decoration: none }
.front { display: block; max-width: 1240px }
.front article { max-width: none }
.groups { columns: 3 300px; column-gap: 40px }
.group { break-inside: avoid; padding-bottom: 20px }
.group h2 { margin: 0 0 6px !important; font-size: 15px }
.group ul, .nearest { list-style: none; margin: 0; padding: 0 }
.nearest { margin-bottom: 20px }
.group li, .nearest li { padding: 5px 0; margin: 0; line-height: 20px; border-top: 1px solid var(--line) }
.group li a, .nearest a { font-weight: 540; text-decoration: none !important }
.group li span, .nearest span { display: block; font-size: 13px; color: var(--muted) }
.group li span::first-letter, .nearest span::first-letter { text-transform: uppercase }
.search.again { max-width: 560px; margin-bottom: 20px }
.note { padding: 8px 12px; background: var(--soft); border-radius: 6px }
.hits { list-style: none; padding: 0 }
.hits li { padding: 12px 0; margin: 0; border-top: 1px solid var(--line) }
.hits li:first-child { border-top: 0 }
.hits li > a { font-size: 16px; font-weight: 600; text-decoration: none }
.hits li > span { display: block; font-size: 13px; line-height: 18px; color: var(--muted) }
.hits p { margin: 2px 0 0; font-size: 14px; overflow-wrap: anywhere }
mark { color: inherit; background: var(--mark); border-radius: 2px; padding: 0 1px }
.onward { display: flex; justify-content: space-between; gap: 16px; margin-top: 48px; padding-top: 16px; border-top: 1px solid var(--line) }
.onward span { display: block; font-size: 12px; color: var(--muted) }
.onward .after { margin-left: auto; text-align: right }

.operation { margin: 0; border-top: 1px solid var(--line) }
.operation summary { display: flex; gap: 10px; align-items: baseline; padding: 7px 0; cursor: pointer; list-style-position: inside }
.operation summary span { color: var(--muted); font-size: 13.5px }
.operation summary code { background: none; padding: 0; font-size: 13px }
.operation .method { flex: 0 0 56px; font-weight: 650 }
.get { color: var(--get) } .post { color: var(--post) } .put, .patch { color: var(--put) } .delete { color: var(--delete) }
.operation > div { scroll-margin-top: 104px; padding: 4px 0 20px 66px }
.operation h3, .operation h4 { margin: 16px 0 4px; font-size: 13.5px }
.operation pre { white-space: pre-wrap; overflow-wrap: anywhere }
.operation details summary { display: list-item; padding: 0 0 6px; font-size: 13.5px; color: var(--muted) }
.operation .example { max-height: 480px; overflow: auto }

[hidden] { display: none !important }
.tools { display: flex; flex-wrap: wrap; gap: 12px 24px; padding: 12px 14px; margin-bottom: 8px; background: var(--surface); border: 1px solid var(--line); border-radius: 8px }
.tools > div { flex: 1 1 260px; min-width: 0 }
.tools label, .try label { display: block; margin-bottom: 4px; font-size: 13px; font-weight: 540 }
.tools :is(small, .found) { display: block; min-height: 20px; margin-top: 4px; font-size: 12.5px; line-height: 20px; color: var(--muted) }
:is(.tools, .try) :is(input, textarea) { width: 100%; min-height: 34px; padding: 0 10px; font: inherit; font-size: 14px; color: inherit; background: var(--bg); border: 1px solid var(--line-strong); border-radius: 6px }
.try { max-width: 620px; padding: 12px 14px; margin: 12px 0; border: 1px solid var(--line); border-radius: 8px }
.try h3 { margin-top: 0 }
.try :is(input, textarea) { margin-bottom: 10px }
.try textarea { padding: 8px 10px; font: var(--mono); resize: vertical }
.try p { margin: 8px 0; font-weight: 540 }
.try pre { max-height: 480px; overflow: auto; margin: 0 }
.buttons { display: flex; gap: 10px; align-items: center; font-size: 13px; color: var(--muted) }

@media (max-width: 1180px) {
  .text { flex-direction: column; gap: 8px }
  .contents { position: static; flex: none; width: 100%; max-width: 820px; max-height: none; margin: 0 0 16px; padding: 4px 8px 8px; background: var(--surface); border: 1px solid var(--line); border-radius: 8px }
  .contents h2 { margin-top: 8px }
  .contents ul { columns: 2 220px }
  article { width: 100% }
}
@media (max-width: 860px) {
  .page { display: block }
  .topics { position: static; max-height: none; padding: 8px 16px 32px; border-top: 1px solid var(--line); columns: 2 240px; scroll-margin-top: 64px }
  .topics details { break-inside: avoid }
  .topics a { padding: 6px 8px }
  .topics-link { display: inline }
  main { padding: 20px 16px 40px }
}
@media (max-width: 600px) {
  .top { flex-wrap: wrap; gap: 8px 14px; padding: 8px 16px; position: static }
  html { scroll-padding-top: 8px }
  .brand { margin-right: auto }
  .top .search { order: 1; flex: 1 0 100%; max-width: none }
  .wide { display: none }
  h1 { font-size: 22px; line-height: 28px }
  thead { display: none }
  table, tbody, tr, td { display: block; width: 100% }
  tr { padding: 10px 0; border-top: 1px solid var(--line) }
  td { padding: 1px 0; border: 0 }
  td:first-child { font-weight: 600; overflow-wrap: anywhere }
  td + td::before { content: attr(data-title) " "; font-size: 12px; color: var(--muted) }
  .columns-2 td + td::before { content: none }
  td.none { display: none }
  .operation summary { flex-wrap: wrap; gap: 0 8px }
  .operation .method { flex: none }
  .operation summary span { flex-basis: 100% }
  .operation > div { scroll-margin-top: 104px; padding-left: 0 }
}
@media print {
  .top, .topics, .contents, .onward, .search, .here, .skip { display: none }
  body { background: #fff; font-size: 10.5pt }
  .page { display: block }
  main { padding: 0 }
  article { max-width: none }
  pre { white-space: pre-wrap; border-color: #bbb }
  h2, h3, h4 { break-after: avoid }
  tr, pre { break-inside: avoid }
  .operation::details-content { content-visibility: visible; height: auto }
}
`;
