/** One sheet for the landing page and the reference. Only system fonts, so that nothing is fetched elsewhere. */
export const styleSheet = `
:root { color-scheme: light dark; --ink: #1b1f24; --quiet: #5b6470; --line: #d9dee4; --paper: #fff; --link: #0b57d0; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 3rem 1.25rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
p, li span { color: var(--quiet); }
ul { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }
li { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: .6rem 0; border-bottom: 1px solid var(--line); }
li a { flex: 0 0 21rem; max-width: 100%; }
a { color: var(--link); overflow-wrap: anywhere; }
code, pre { font: .875rem/1.5 ui-monospace, monospace; }
pre { margin: 0; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --quiet: #9aa4b0; --line: #30363d; --paper: #14171a; --link: #8ab4f8; }
}
body.reference { --paper: #fff; color-scheme: light; }
.reference header { display: flex; gap: 1rem; align-items: baseline; padding: .75rem 1.25rem; border-bottom: 1px solid #d9dee4; }
.reference header a { color: #0b57d0; }
.reference main { max-width: none; padding: 0; }
.reference .swagger-ui { max-width: 72rem; margin: 0 auto; }
.reference .swagger-ui, .reference .swagger-ui .info .title, .reference .swagger-ui .opblock-tag,
.reference .swagger-ui .opblock .opblock-summary-description { font-family: system-ui, sans-serif; }
.reference .swagger-ui .info { margin: 1.5rem 0 .5rem; }
.reference .swagger-ui .scheme-container { padding: 1rem 0; margin: 0; box-shadow: none; }
.reference .swagger-ui .opblock { box-shadow: none; }
`;
