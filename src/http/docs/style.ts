import { BASE_STYLE, contentSecurityPolicy } from "../style.js";

/** The documentation's whole style: wide tables and code scroll by themselves. */
export const STYLE = `${BASE_STYLE}
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding-bottom: .75rem; border-bottom: 1px solid var(--line); }
h1, h2, h3 { margin: 2.25rem 0 .75rem; }
h2 { padding-top: .75rem; border-top: 1px solid var(--line); font-size: 1.3rem; }
h3 { font-size: 1.05rem; }
:target { background: var(--mark); }
.scroll:focus-visible, pre:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
[aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
pre { padding: .75rem; overflow-x: auto; }
pre code { padding: 0; font-size: 1em; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: normal; }
th { color: var(--faint); font-weight: 600; }
li + li { margin-top: .25rem; }
`;

/** Allows this style and nothing else: no script, no image, no form, no frame. */
export const CONTENT_SECURITY_POLICY = contentSecurityPolicy(STYLE, "'none'");
