import { createHash } from "node:crypto";

/** The pages' whole style: the reader's fonts and colours, lines of a readable length, wide tables and code scroll by themselves. */
export const STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --faint: #57606a; --line: #d0d7de; --code: #f2f4f6; --link: #0550ae; --mark: #fff3c4; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e8eb; --faint: #a8b1bb; --line: #3a424c; --code: #1d232b; --link: #7db8ff; --mark: #4a3d10; --page: #12161c; }
}
body { margin: 0 auto; max-width: 46rem; padding: 1rem 1rem 6rem; background: var(--page, #fff); color: var(--text);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding-bottom: .75rem; border-bottom: 1px solid var(--line); }
h1, h2, h3 { line-height: 1.25; margin: 2.25rem 0 .75rem; }
h2 { padding-top: .75rem; border-top: 1px solid var(--line); font-size: 1.3rem; }
h3 { font-size: 1.05rem; }
:target { background: var(--mark); }
a { color: var(--link); }
a:focus-visible, .scroll:focus-visible, pre:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
[aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
code, pre { font: .875em/1.45 ui-monospace, monospace; background: var(--code); border-radius: 4px; }
code { padding: .1em .3em; }
pre { padding: .75rem; overflow-x: auto; }
pre code { padding: 0; font-size: 1em; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: normal; }
th { color: var(--faint); font-weight: 600; }
li + li { margin-top: .25rem; }
`;

/** Allows this style and nothing else: no script, no image, no form, no frame. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
