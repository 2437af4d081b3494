/** The sheet of the developer section; colours as on the landing page. Only system fonts. */
export const developerStyle = `
:root { color-scheme: light dark; --ink: #1b1f24; --quiet: #5b6470; --line: #d9dee4; --paper: #fff; --ground: #f6f7f9; --link: #0b57d0;
  --on-link: #fff; --bad: #b3261e; --bad-ground: #fdeceb; --good: #0b6b3a; --good-ground: #e7f6ed; --mark: #eef1f5; --bar: #7aa7ee; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --quiet: #9aa4b0; --line: #30363d; --paper: #1b1f24; --ground: #14171a; --link: #8ab4f8;
    --on-link: #10141a; --bad: #ffb4ab; --bad-ground: #3a1a18; --good: #8fdcae; --good-ground: #14301f; --mark: #2a3038; --bar: #4d7ecb; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
a { color: var(--link); text-underline-offset: .15em; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 0 0 .25rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
p { margin: 0 0 1rem; }
code, pre { font: .875rem/1.5 ui-monospace, monospace; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; padding: .5rem 1rem; background: var(--paper); }
.skip:focus { left: 0; z-index: 1; }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; padding: 0; border: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.bar { background: var(--paper); border-bottom: 1px solid var(--line); }
.bar > div { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.5rem; max-width: 60rem; margin: 0 auto; padding: .75rem 1.25rem; }
.brand { font-weight: 650; color: var(--ink); text-decoration: none; margin-right: auto; }
.bar nav { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.25rem; }
.bar nav a { color: var(--quiet); text-decoration: none; padding: .25rem 0; border-bottom: 2px solid transparent; }
.bar nav a:hover { color: var(--ink); }
.bar nav a[aria-current] { color: var(--ink); border-color: var(--link); }
main { max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.25rem 5rem; }
main.narrow { max-width: 29rem; padding-top: 4rem; }
.lead { color: var(--quiet); margin-bottom: 1.5rem; }
section { margin-top: 1.5rem; padding: 1.5rem; background: var(--paper); border: 1px solid var(--line); border-radius: 10px; }
h1 + .card { margin-top: 1.25rem; }
.chart + .hint { margin-bottom: .75rem; }
section > h2 + form { margin-top: .75rem; }
section > h2 + p, .hint, .quiet, .empty { color: var(--quiet); }
section > :last-child, .card > :last-child, .secret > :last-child, details > :last-child { margin-bottom: 0; }
.card { padding: 1.5rem; background: var(--paper); border: 1px solid var(--line); border-radius: 10px; }
section .card { padding: 0; border: 0; max-width: 26rem; }
.below { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .5rem 1.5rem; margin-top: 1.25rem; }

.field { margin-bottom: 1.25rem; }
label { display: block; font-weight: 550; margin-bottom: .25rem; }
input { width: 100%; padding: .6rem .75rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid #8a939e; border-radius: 6px; }
input[readonly] { background: var(--ground); border-color: var(--line); }
input[aria-invalid] { border-color: var(--bad); box-shadow: inset 0 0 0 1px var(--bad); }
.hint { font-size: .875rem; margin: .375rem 0 0; }
.error { font-size: .875rem; margin: .375rem 0 0; color: var(--bad); font-weight: 550; }
.alert, .notice { padding: .75rem 1rem; border-radius: 6px; border-left: 4px solid; margin: 1rem 0; }
.alert { background: var(--bad-ground); color: var(--bad); }
.notice { background: var(--good-ground); color: var(--good); }
button, .sure summary { font: inherit; font-weight: 550; line-height: 1.25; padding: .6rem 1rem; border: 1px solid var(--line); border-radius: 6px; background: var(--paper); color: var(--ink); cursor: pointer; }
button:hover, .sure summary:hover { border-color: var(--quiet); }
button.primary { background: var(--link); border-color: var(--link); color: var(--on-link); }
button.danger { background: var(--paper); border-color: var(--bad); color: var(--bad); }
button.primary:hover, button.danger:hover { filter: brightness(1.08); }
button.quiet { border: 0; border-bottom: 2px solid transparent; border-radius: 0; padding: .25rem 0; background: none; color: var(--quiet); font-weight: 400; line-height: 1.5; }
button.quiet:hover { color: var(--ink); }
.stack > button { width: 100%; }
.stack > .hint { margin-top: .75rem; }
.inline { display: flex; flex-wrap: wrap; align-items: flex-start; gap: .75rem; margin-top: 1.25rem; }
.inline .field { flex: 1 1 16rem; margin: 0; }
.inline button { margin-top: 1.75rem; }
.inline details { flex: 1 1 100%; }
.inline details .field { margin: 1.25rem 0 0; }
fieldset { margin: 0 0 1.25rem; padding: 0; border: 0; }
legend { padding: 0; font-weight: 550; }
.check { display: flex; align-items: baseline; gap: .5rem; margin: .375rem 0; font-weight: 400; }
.check input { width: auto; }
.terms { display: grid; grid-template-columns: max-content 1fr; gap: .5rem 1.5rem; margin: .75rem 0 0; }
.terms dt { color: var(--quiet); }
.terms dd { margin: 0; overflow-wrap: anywhere; }
.terms ul { margin: 0; padding: 0; list-style: none; }
.qr { display: block; width: 14rem; max-width: 100%; margin: 1rem 0; border-radius: 6px; }
.qr .light { fill: #fff; }
.qr .dark { fill: #000; }
section > .actions { text-align: left; }

table { width: 100%; border-collapse: collapse; margin: 0 0 1rem; }
th, td { padding: .75rem .75rem .75rem 0; text-align: left; vertical-align: top; border-top: 1px solid var(--line); font-weight: 400; }
thead th { padding-top: 0; border: 0; font-size: .875rem; color: var(--quiet); }
tbody th { font-weight: 550; overflow-wrap: anywhere; }
tbody td code { overflow-wrap: anywhere; }
td { font-variant-numeric: tabular-nums; }
th.number, td.number { text-align: right; }
time { white-space: nowrap; }
.mark { display: inline-block; margin-left: .5rem; padding: 0 .5rem; border-radius: 1rem; background: var(--mark); color: var(--quiet); font-size: .8125rem; font-weight: 400; }
.actions { padding-right: 0; text-align: right; }
.actions > form, .actions > .sure { display: inline-block; text-align: left; }
.actions > * + * { margin-left: .5rem; }
.actions button, .actions .sure summary { padding: .3rem .7rem; font-size: .875rem; }
.sure { position: relative; }
.sure summary { list-style: none; }
.sure summary::-webkit-details-marker { display: none; }
.sure > div { position: absolute; right: 0; z-index: 1; width: 17rem; margin-top: .375rem; padding: 1rem; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; box-shadow: 0 6px 24px #0003; }
.sure p { font-size: .875rem; margin-bottom: .75rem; }
.sure form { display: block; }
.sure button { width: 100%; }

.secret { margin: 1rem 0; padding: 1.25rem; border: 1px solid var(--good); border-radius: 8px; background: var(--good-ground); }
.secret:focus { outline: 0; }
.secret h3 { margin-top: 0; }
.copied { display: flex; align-items: flex-start; gap: .5rem; margin-bottom: 1rem; }
.copied > code, .copied > pre { flex: 1 1 0; min-width: 0; margin: 0; padding: .55rem .75rem; background: var(--paper); border: 1px solid var(--line); border-radius: 6px; }
.copied > code { overflow-wrap: anywhere; }
.copied > pre { overflow-x: auto; }
details > summary { cursor: pointer; }
details[open] > summary { margin-bottom: .75rem; }
.chart { margin: 0 0 1rem; }
.chart svg { display: block; width: 100%; height: 8rem; border-bottom: 1px solid var(--line); }
.chart .some { fill: var(--bar); }
.chart .none { fill: var(--line); }
.chart .most { font-size: .8125rem; color: var(--quiet); border-bottom: 1px dashed var(--line); margin-bottom: 2px; font-variant-numeric: tabular-nums; }
.chart figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; margin-top: .375rem; font-size: .8125rem; color: var(--quiet); }
.figures { max-width: 20rem; }
.figures td:last-child, .figures th:last-child { text-align: right; padding-right: 0; }

@media (max-width: 44rem) {
  main, main.narrow { padding-top: 1.5rem; }
  section { padding: 1.25rem 1rem; }
  .list thead { display: none; }
  .list, .list tbody, .list tr, .list th, .list td { display: block; width: 100%; }
  .list tr { border-top: 1px solid var(--line); padding: .75rem 0; }
  .list th, .list td { border: 0; padding: .125rem 0; text-align: left; }
  .list td[data-label] { display: flex; justify-content: space-between; gap: 1rem; }
  .list td[data-label]::before { content: attr(data-label); color: var(--quiet); }
  .list .actions { display: flex; flex-wrap: wrap; gap: .5rem; padding-top: .5rem; }
  .list .actions:empty { display: none; }
  .actions > * + * { margin-left: 0; }
  .actions .sure[open] { flex: 1 1 100%; }
  .sure > div { position: static; width: auto; box-shadow: none; }
  .actions button, .actions .sure summary { padding: .5rem .9rem; }
  .sure summary { display: inline-block; }
  .inline button { margin-top: 0; width: 100%; }
  .copied { flex-wrap: wrap; }
  .copied > code, .copied > pre { flex-basis: 100%; }
}
`;
