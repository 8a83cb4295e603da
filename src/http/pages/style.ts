import { BASE_STYLE } from "../style.js";

/** The pages' whole style: one narrow column of labelled fields, wide enough for a thumb, on a screen of 320 pixels too. */
export const STYLE = `${BASE_STYLE}
main { max-width: 26rem; margin: 0 auto; padding-top: 1.5rem; }
h1 { margin: 0 0 1rem; font-size: 1.5rem; }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600; }
input, button { box-sizing: border-box; width: 100%; min-height: 2.75rem; padding: .5rem .75rem; border: 1px solid var(--faint); border-radius: 6px;
  background: var(--page, #fff); color: inherit; font: inherit; }
button { margin-top: 1.25rem; border-color: var(--link); background: var(--link); color: var(--page, #fff); font-weight: 600; cursor: pointer; }
button.second { background: none; color: var(--link); }
input:focus-visible, button:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
[readonly] { border-color: var(--line); background: var(--code); }
[aria-invalid] { border-color: var(--wrong); border-width: 2px; }
.code { font-family: ui-monospace, monospace; letter-spacing: .1em; text-transform: uppercase; }
.hint { margin: .25rem 0 0; color: var(--faint); font-size: .875rem; }
form + .hint, form + form { margin-top: 1rem; }
.error { margin: 1rem 0; padding: .75rem; border: 1px solid var(--wrong); border-left-width: 4px; border-radius: 6px; }
.request { margin-top: 2rem; color: var(--faint); font-size: .875rem; }
form + .hint { margin-top: 1.25rem; }
p:not(.request) code { white-space: nowrap; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; margin: 1rem 0; }
dt { color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; }
dd.code { font-size: 1.25rem; line-height: 1.2; font-weight: 600; }
:root { --wrong: #b42318; }
@media (prefers-color-scheme: dark) { :root { --wrong: #ff8a7a; } }
@media (max-width: 24rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
`;
