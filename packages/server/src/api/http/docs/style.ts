/** The style sheet of the docs page, at an address of its own because the page allows no inline styles. */
export const docsStyle = `:root {
  color-scheme: light dark;
  --page: #fff; --side: #f7f8fa; --ink: #17202b; --soft: #5b6776; --line: #e3e7ec; --link: #0b5cad; --chip: #eef1f5;
  --get: #0b5cad; --post: #0f7a3d; --put: #8a5a00; --patch: #6b3fb5; --delete: #b3261e; --warm: #b3261e;
  --panel: #101a26; --panel-head: #192635; --panel-ink: #d9e2ec; --panel-soft: #8fa1b5; --panel-line: #24344a;
  --bar: 3.5rem; --mono: ui-monospace, "SF Mono", "Cascadia Code", "DejaVu Sans Mono", Menlo, monospace;
  font: 15px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d131b; --side: #111923; --ink: #e3e9f0; --soft: #97a5b5; --line: #243040; --link: #7ab7ff; --chip: #1b2633;
    --get: #7ab7ff; --post: #5fd38d; --put: #e8b95c; --patch: #c2a3ff; --delete: #ff9a92; --warm: #ff9a92;
    --panel: #0a0f16; --panel-head: #121b27; --panel-line: #243040;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: calc(var(--bar) + 1rem); }
body { margin: 0; background: var(--page); color: var(--ink); }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 4px; }
p { margin: 0 0 0.75rem; }
code, pre, kbd { font-family: var(--mono); font-size: 0.86em; }
code { overflow-wrap: anywhere; }
small { color: var(--soft); font-weight: 400; }
[hidden], .hidden { display: none !important; }
.skip { position: fixed; left: -100rem; z-index: 3; background: var(--page); padding: 0.5rem 1rem; }
.skip:focus { left: 0.5rem; top: 0.5rem; }

.bar { position: sticky; top: 0; z-index: 2; display: flex; align-items: center; gap: 1rem; height: var(--bar); padding: 0 1.25rem;
  background: var(--page); border-bottom: 1px solid var(--line); }
.brand { display: flex; align-items: center; gap: 0.4rem; color: inherit; white-space: nowrap; }
.brand:hover { text-decoration: none; }
.brand svg { color: var(--link); }
.search { position: relative; flex: 1; max-width: 26rem; margin-left: auto; }
.search input { width: 100%; height: 2.25rem; padding: 0 2.25rem 0 0.75rem; font: inherit; font-size: 0.9rem; color: inherit;
  background: var(--side); border: 1px solid var(--line); border-radius: 0.5rem; }
.search input::placeholder { color: var(--soft); opacity: 1; }
kbd { position: absolute; right: 0.6rem; top: 0.45rem; padding: 0 0.4rem; color: var(--soft); border: 1px solid var(--line); border-radius: 0.25rem; }
.search input:not(:placeholder-shown) + kbd { display: none; }
button { font: inherit; color: inherit; background: none; border: 1px solid var(--line); border-radius: 0.375rem; cursor: pointer; }
.menu { height: 2.25rem; padding: 0 0.75rem; font-size: 0.9rem; }

nav { padding: 1rem 0.75rem 2rem; font-size: 0.875rem; background: var(--side); border-bottom: 1px solid var(--line); }
nav summary { padding: 0.3rem 0.5rem; font-weight: 600; border-radius: 0.375rem; }
nav summary:hover, nav li a:hover, nav .all:hover { background: var(--chip); }
nav ul { list-style: none; margin: 0 0 0.5rem; padding: 0; }
nav li a, nav .all { display: flex; gap: 0.5rem; padding: 0.25rem 0.5rem; color: var(--ink); line-height: 1.4; border-radius: 0.375rem; }
nav li a:hover, nav .all:hover { text-decoration: none; }
nav li a.here { background: var(--chip); font-weight: 600; }
nav .method { flex: none; width: 2.6rem; padding-top: 0.15rem; text-align: right; background: none; }
nav .none { padding: 0.5rem; color: var(--soft); }

summary { cursor: pointer; }
.method { font: 700 0.68rem/1.4 var(--mono); letter-spacing: 0.02em; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); }
.patch { color: var(--patch); } .delete { color: var(--delete); }

main { min-width: 0; padding: 0 1.25rem 4rem; }
h1 { margin: 0 0 0.5rem; font-size: 2rem; line-height: 1.2; letter-spacing: -0.02em; }
h2 { margin: 0 0 1rem; font-size: 1.375rem; letter-spacing: -0.01em; }
h2.tag { margin: 0; padding: 3rem 0 0.5rem; font-size: 1.5rem; }
.lead { color: var(--soft); }
.lead span { white-space: nowrap; }
h3 { margin: 0 0 0.5rem; font-size: 1.125rem; line-height: 1.35; overflow-wrap: anywhere; }
h3 a { color: inherit; }
h4 { margin: 1.5rem 0 0.25rem; font-size: 0.8125rem; font-weight: 600; color: var(--soft); text-transform: uppercase; letter-spacing: 0.05em; }
h4 small { text-transform: none; letter-spacing: 0; }
.intro, .call { display: grid; gap: 1.25rem; padding: 2rem 0; }
.call { border-top: 1px solid var(--line); }
.intro .text > p { max-width: 34rem; color: var(--soft); font-size: 1.0625rem; }
.text, .code { min-width: 0; }
.base { display: flex; align-items: baseline; gap: 0.6rem; }
.base code { color: var(--ink); background: var(--chip); padding: 0.15rem 0.5rem; border-radius: 0.375rem; }
.notes { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1rem; }
.notes div { padding: 0.9rem 1rem; border: 1px solid var(--line); border-radius: 0.625rem; }
.notes h2 { margin: 0 0 0.25rem; font-size: 0.9375rem; }
.notes p { margin: 0; color: var(--soft); font-size: 0.875rem; }

.address { display: flex; align-items: center; gap: 0.6rem; padding: 0.35rem 0.65rem; background: var(--chip); border-radius: 0.5rem; }
.address em { color: var(--link); font-style: normal; }
.aliases { color: var(--soft); font-size: 0.875rem; }
.aliases code { padding: 0.1rem 0.35rem; background: var(--chip); border-radius: 0.25rem; }
.text details { margin: 0.4rem 0; }
.text details > summary { color: var(--link); font-size: 0.875rem; }
.fields { list-style: none; margin: 0; padding: 0; }
.fields > li { padding: 0.6rem 0; border-top: 1px solid var(--line); }
.fields > li:first-child { border-top: 0; }
.fields .fields { margin: 0.4rem 0 0; padding: 0 0.9rem; border: 1px solid var(--line); border-radius: 0.5rem; }
.field { margin: 0; }
.field > code { font-weight: 600; }
.type { color: var(--soft); font-size: 0.8125rem; overflow-wrap: anywhere; }
.type code { padding: 0 0.25rem; background: var(--chip); border-radius: 0.25rem; }
.required { margin-left: 0.3rem; color: var(--warm); font-size: 0.75rem; font-weight: 600; }
.about { margin: 0.1rem 0 0; font-size: 0.9rem; overflow-wrap: anywhere; }
.about:empty { display: none; }
.note { display: inline-block; margin-right: 0.15rem; padding: 0 0.4rem; color: var(--soft); font-size: 0.78rem; background: var(--chip); border-radius: 0.25rem; }
a.note { color: var(--link); }
.rules ul, .problems { margin: 0.4rem 0 0; padding-left: 1.1rem; font-size: 0.875rem; }
.problems { list-style: none; padding: 0; }
.problems li { padding: 0.2rem 0; }
.status { font: 700 0.78rem/1 var(--mono); color: var(--post); }
.bad { color: var(--warm); }

.panel, .answer { margin: 0 0 1rem; overflow: hidden; color: var(--panel-ink); background: var(--panel); border: 1px solid var(--panel-line); border-radius: 0.625rem; }
.panel > p, .answer > summary { display: flex; align-items: center; gap: 0.6rem; margin: 0; padding: 0.45rem 0.9rem; color: var(--panel-soft); font-size: 0.8125rem;
  background: var(--panel-head); }
.answer > summary::before { content: "\\203a"; width: 0.6rem; }
.answer[open] > summary::before { content: "\\2304"; }
.answer > summary { list-style: none; }
.panel .status, .answer .status { color: #5fd38d; }
.copy { margin-left: auto; padding: 0 0.5rem; color: var(--panel-ink); border-color: var(--panel-line); font-size: 0.78rem; }
.copied { animation: copied 1.5s; }
@keyframes copied { from { background: var(--panel-line); } to { background: transparent; } }
pre { margin: 0; padding: 0.8rem 0.9rem; max-height: 32rem; overflow: auto; font-size: 0.8125rem; line-height: 1.55; }
pre code { font-size: 1em; overflow-wrap: normal; }
pre i { font-style: normal; }
pre b { color: #7ab7ff; font-weight: 600; }
.k { color: #8cc4ff; } .s { color: #a5dba0; } .v { color: #f2b48a; }
dt { margin-top: 0.75rem; font-weight: 600; }
dd { margin: 0; color: var(--soft); }
#formats, #schemas { padding-top: 3rem; }
.schema { padding: 1.25rem 0; border-top: 1px solid var(--line); max-width: 46rem; }

@media (max-width: 63.99rem) {
  .scripted nav { display: none; position: fixed; inset: var(--bar) 0 0; z-index: 1; overflow-y: auto; border: 0; }
  .scripted nav.open { display: block; }
  kbd { display: none; }
}
@media (max-width: 30rem) {
  .brand small { display: none; }
  .bar { gap: 0.6rem; padding: 0 0.9rem; }
  main { padding: 0 0.9rem 3rem; }
  h1 { font-size: 1.625rem; }
}
@media (min-width: 64rem) {
  body { display: grid; grid-template: var(--bar) 1fr / 18.5rem minmax(0, 1fr); }
  .bar { grid-column: 1 / -1; }
  .menu { display: none; }
  nav { position: sticky; top: var(--bar); height: calc(100vh - var(--bar)); overflow-y: auto; border: 0; border-right: 1px solid var(--line); }
  main { padding: 0 2.5rem 6rem; }
}
@media (min-width: 80rem) {
  .intro, .call { grid-template-columns: minmax(0, 1.1fr) minmax(0, 1fr); gap: 2.5rem; }
  .call > .code > * { position: relative; }
  .call > .code { position: sticky; top: calc(var(--bar) + 1rem); align-self: start; max-height: calc(100vh - var(--bar) - 2rem); overflow-y: auto; }
  main { max-width: 92rem; }
}
@media print { .bar, nav, .copy { display: none; } }
`;
