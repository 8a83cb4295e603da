/** What the documentation adds to the style sheet: three columns where there is room, else one; code in the colours of text. */
export const DOCS_STYLE = `
.columns.docs { grid-template-columns: 13rem minmax(0, 46rem) 13rem; gap: 0 2rem; }
.docs .side, .docs .contents { position: sticky; top: 0; max-height: 100vh; overflow-y: auto; align-self: start; padding: .25rem; font-size: .875rem; }
.docs .contents { grid-area: 1 / 3; }
.docs main { grid-area: 1 / 2; }
.docs .side ul, .docs .contents ul { display: flex; flex-flow: column nowrap; gap: .3rem; margin: .5rem 0 1rem; padding: 0; list-style: none; }
.docs .side label { margin-top: 0; }
.docs .side input { width: 100%; }
.docs .side form { margin-bottom: 1rem; }
.docs .side button { margin-top: .5rem; }
.docs summary { padding: .25rem 0; font-weight: 600; cursor: pointer; }
.docs summary .hint { display: block; font-weight: 400; }
.docs main h2 { padding-top: .75rem; border-top: 1px solid var(--line); font-size: 1.3rem; }
.docs main h3 { margin-top: 2.25rem; }
.docs main li + li { margin-top: .25rem; }
.docs main th { white-space: normal; }
.docs main td, .docs main th { overflow-wrap: normal; }
.docs .found p { margin: 0 0 1rem; color: var(--faint); overflow-wrap: anywhere; }
mark { background: var(--mark); color: var(--text); }
@media (max-width: 75rem) {
  .columns.docs { grid-template: auto 1fr / 13rem minmax(0, 1fr); }
  .docs .side { grid-row: 1 / span 2; }
  .docs .contents { grid-area: 1 / 2; position: static; }
  .docs .contents ul { flex-direction: row; gap: 1rem; overflow-x: auto; white-space: nowrap; }
  .docs main { grid-area: 2 / 2; }
}
@media (max-width: 48rem) {
  .columns.docs { grid-template: none / minmax(0, 1fr); }
  .docs .side, .docs .contents, .docs main { grid-area: auto; position: static; max-height: none; }
  .docs .side form { display: grid; grid-template-columns: 1fr auto; column-gap: .5rem; }
  .docs .side label { grid-column: 1 / 3; }
  .docs .side { padding-bottom: 1rem; }
  .docs .side button { margin-top: 0; }
  .docs .side ul { flex-direction: row; gap: 1rem; overflow-x: auto; white-space: nowrap; }
  .docs summary .hint { display: inline; }
}

.hljs-comment, .hljs-meta { color: var(--faint); }
.hljs-keyword, .hljs-built_in, .hljs-attr, .hljs-attribute, .hljs-section { color: var(--link); }
.hljs-string, .hljs-regexp { color: var(--good); }
.hljs-number, .hljs-literal, .hljs-variable, .hljs-type, .hljs-symbol { color: var(--warn); }
.hljs-title { font-weight: 600; }
`;
