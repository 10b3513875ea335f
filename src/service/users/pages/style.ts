/** The look of the pages for signing in, in both themes. */
export const STYLE = `
:root { color-scheme: light; --bg: #f7f8f8; --surface: #fff; --ink: #16191d; --muted: #5d6670; --line: #e3e6e8; --field: #8a939c; --link: #0b57d0; --fail: #b42323; --fail-soft: #fbe3e3; --pass: #1f7a4a; --pass-soft: #dff1e6 }
@media (prefers-color-scheme: dark) { :root { color-scheme: dark; --bg: #0e1113; --surface: #15191c; --ink: #e8ebee; --muted: #a0a9b2; --line: #252b30; --field: #68737e; --link: #8ab4f8; --fail: #ff8585; --fail-soft: #3a1616; --pass: #63cf97; --pass-soft: #12301f } }
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; align-items: center; gap: 20px; padding: 12vh 16px 32px; background: var(--bg); color: var(--ink); font: 14px/20px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; font-variant-numeric: tabular-nums }
a { color: var(--link) }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px }
.brand { display: flex; align-items: center; gap: 8px; font-size: 15px; font-weight: 660; color: var(--ink); text-decoration: none }
main { width: 100%; max-width: 384px; padding: 24px; background: var(--surface); border: 1px solid var(--line); border-radius: 8px }
main.wide { max-width: 560px }
h1 { margin: 0 0 12px; font-size: 18px; line-height: 24px; font-weight: 620; letter-spacing: -.01em }
h2 { margin: 28px 0 8px; font-size: 14px; line-height: 20px; font-weight: 620 }
p { margin: 0 0 16px; color: var(--muted) }
p strong { color: var(--ink); font-weight: 600; overflow-wrap: anywhere }
form { margin: 0 }
label { display: block; margin: 0 0 16px; font-weight: 540 }
label input { display: block; width: 100%; height: 36px; margin-top: 4px; padding: 0 10px; font: inherit; font-weight: 400; color: inherit; background: var(--bg); border: 1px solid var(--field); border-radius: 6px }
label small { display: block; margin-top: 4px; font-size: 12px; line-height: 16px; font-weight: 400; color: var(--muted) }
.button { display: flex; align-items: center; justify-content: center; width: 100%; height: 36px; padding: 0 12px; font: inherit; font-weight: 600; color: var(--ink); background: var(--surface); border: 1px solid var(--field); border-radius: 6px; cursor: pointer; text-decoration: none }
.button.primary { color: var(--bg); background: var(--ink); border-color: var(--ink) }
.buttons { display: flex; gap: 8px }
.note { margin: 0 0 16px; padding: 8px 12px; border-radius: 6px; color: var(--ink) }
.note.fail { background: var(--fail-soft); border-left: 3px solid var(--fail) }
.note.pass { background: var(--pass-soft); border-left: 3px solid var(--pass) }
.or { display: flex; align-items: center; gap: 12px; margin: 16px 0; color: var(--muted); font-size: 12px }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--line) }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; margin: 0 0 16px }
dt { color: var(--muted) }
dd { margin: 0; overflow-wrap: anywhere }
main > form + *, main > .button + * { margin-top: 16px }
main > :last-child { margin-bottom: 0 }
@media (max-width: 480px) { body { padding-top: 32px } main { padding: 20px 16px } }
`;
