/** Style of the documentation page, for screens, phones and print, light and dark. */
export const docsStyle = `
:root {
  color-scheme: light dark;
  --ground: #fdfcfa; --ink: #22252a; --faint: #666c76; --line: #dedad2; --raised: #f4f1ea;
  --link: #0b5c8a; --read: #1d6b45; --write: #8a4b08;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #16181c; --ink: #e3e1dc; --faint: #9aa0aa; --line: #343841; --raised: #1f2228;
    --link: #7cc0ea; --read: #7fd0a5; --write: #eab377;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
header { padding: 2rem 1.5rem 1rem; border-bottom: 1px solid var(--line); }
header h1 { margin: 0; font-size: 1.7rem; letter-spacing: -0.01em; }
header p { margin: 0.2rem 0 0; color: var(--faint); }
nav { padding: 1rem 1.5rem; font-size: 0.9rem; border-bottom: 1px solid var(--line); }
nav h2 { margin: 0.8rem 0 0.2rem; font-size: 0.9rem; color: var(--faint); font-weight: 600; }
nav ul { margin: 0; padding: 0; list-style: none; }
nav li { padding: 0.1rem 0; overflow-wrap: anywhere; }
main { padding: 0 1.5rem 4rem; max-width: 62rem; min-width: 0; }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
section > h2 { margin: 2.5rem 0 0.3rem; font-size: 1.35rem; }
article {
  margin: 1.2rem 0; padding: 1rem 1.2rem 1.2rem; border: 1px solid var(--line); border-radius: 8px;
}
article:target { border-color: var(--link); }
h3 { margin: 0 0 0.5rem; font-size: 1.05rem; font-weight: 600; overflow-wrap: anywhere; }
h4 { margin: 1.1rem 0 0.3rem; font-size: 0.85rem; color: var(--faint); font-weight: 600; }
p { margin: 0.4rem 0; }
code, pre { font: 0.87em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
pre {
  margin: 0; padding: 0.8rem 1rem; overflow: auto; max-height: 28rem;
  background: var(--raised); border-radius: 6px;
}
pre.call { user-select: all; }
.get, .post, .delete { font: 600 0.8rem/1 ui-monospace, Menlo, Consolas, monospace; }
.get { color: var(--read); }
.post, .delete { color: var(--write); }
table { width: 100%; border-collapse: collapse; font-size: 0.92rem; }
th, td { padding: 0.35rem 0.7rem 0.35rem 0; text-align: left; vertical-align: top; }
th { color: var(--faint); font-weight: 600; font-size: 0.85rem; }
tr { border-bottom: 1px solid var(--line); }
td:first-child { white-space: nowrap; }
.model td, .model td:first-child { white-space: normal; overflow-wrap: anywhere; }
@media (min-width: 64rem) {
  body { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
  header { grid-column: 1 / -1; }
  nav { position: sticky; top: 0; height: 100vh; overflow: auto; border: 0; border-right: 1px solid var(--line); }
  main { padding-left: 2.5rem; }
}
@media (max-width: 40rem) {
  thead { display: none; }
  tr { display: block; padding: 0.4rem 0; }
  td, td:first-child { display: block; padding: 0; white-space: normal; overflow-wrap: anywhere; }
  td:empty { display: none; }
  main, nav, header { padding-left: 1rem; padding-right: 1rem; }
}
@media print { nav { display: none; } pre { max-height: none; } article { break-inside: avoid; } }
`;
