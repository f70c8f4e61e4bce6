/** The style sheet of the docs page, at an address of its own because the page allows no inline styles. */
export const docsStyle = `:root {
  color-scheme: light dark;
  font: 16px/1.5 system-ui, sans-serif;
  --page: #fff; --side: #f6f7f9; --ink: #1b1f24; --soft: #57606a; --line: #d8dee4; --link: #0550ae; --box: #f1f3f5;
  --get: #0550ae; --post: #116329; --put: #7d4e00; --patch: #6639ba; --delete: #a40e26;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --side: #171c23; --ink: #e4e8ed; --soft: #9aa6b2; --line: #2f3742; --link: #79b8ff; --box: #1d242d;
    --get: #79b8ff; --post: #6fdd8b; --put: #e3b341; --patch: #d2a8ff; --delete: #ff9492;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 0.5rem; }
body { margin: 0; background: var(--page); color: var(--ink); }
a { color: var(--link); }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 0.5rem; top: 0.5rem; background: var(--page); padding: 0.5rem; z-index: 1; }
nav { background: var(--side); border-bottom: 1px solid var(--line); padding: 1rem; font-size: 0.875rem; }
nav .name { margin: 0 0 0.5rem; font-weight: 600; font-size: 1rem; }
nav a { text-decoration: none; }
nav a:hover, h3 a:hover { text-decoration: underline; }
nav ul { list-style: none; margin: 0.25rem 0 0.75rem; padding: 0; }
nav li { padding: 0.125rem 0; overflow-wrap: anywhere; }
main { padding: 1rem; max-width: 64rem; min-width: 0; }
h1 { margin: 0; }
h2 { margin: 3rem 0 0; }
h3 { margin: 0; font-size: 1.0625rem; overflow-wrap: anywhere; }
h3 a { color: inherit; text-decoration: none; }
section { border-top: 1px solid var(--line); margin-top: 1.25rem; padding-top: 1.25rem; }
section:target { border-top: 3px solid var(--link); }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
code { overflow-wrap: anywhere; }
pre { background: var(--box); padding: 0.75rem; border-radius: 0.375rem; overflow-x: auto; margin: 0.5rem 0; }
.method { font: 600 0.75rem/1 ui-monospace, monospace; color: var(--ink); }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); }
.patch { color: var(--patch); } .delete { color: var(--delete); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 0.75rem 0; font-size: 0.9375rem; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.125rem; }
th { text-align: left; font-weight: 400; color: var(--soft); font-size: 0.8125rem; }
th, td { border-bottom: 1px solid var(--line); padding: 0.25rem 0.75rem 0.25rem 0; vertical-align: top; }
summary { cursor: pointer; }
small { color: var(--soft); font-size: 0.8125rem; }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 20rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-bottom: 0; border-right: 1px solid var(--line); }
  main { padding: 1.5rem 2rem 4rem; }
}
@media (min-width: 40.01rem) {
  td:first-child code { white-space: nowrap; }
  td:last-child { width: 55%; }
}
@media (max-width: 40rem) {
  thead { display: none; }
  tr { display: block; border-bottom: 1px solid var(--line); padding: 0.375rem 0; }
  td { display: block; border: 0; padding: 0; }
}
`;
