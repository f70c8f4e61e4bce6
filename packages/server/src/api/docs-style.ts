/** The docs page's looks, served from an address of its own because the page allows no inline styles. */
export const docsStyle = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 70rem; margin: 0 auto; padding: 1rem; }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
nav ul { list-style: none; padding: 0; }
section { border-top: 1px solid #8885; margin-top: 1.5rem; }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0; }
caption { text-align: left; font-weight: 600; }
td { border-bottom: 1px solid #8883; padding: 0.25rem 0.75rem 0.25rem 0; vertical-align: top; }
small { opacity: 0.75; }
`;
