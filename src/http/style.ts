import { createHash } from "node:crypto";

/** What all pages have in common: the reader's fonts and colours, lines of a readable length, a focus that is seen. */
export const BASE_STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --faint: #57606a; --line: #d0d7de; --code: #f2f4f6; --link: #0550ae; --mark: #fff3c4; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e8eb; --faint: #a8b1bb; --line: #3a424c; --code: #1d232b; --link: #7db8ff; --mark: #4a3d10; --page: #12161c; }
}
body { margin: 0 auto; max-width: 46rem; padding: 1rem 1rem 6rem; background: var(--page, #fff); color: var(--text);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.25; }
a { color: var(--link); }
a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code, pre { font: .875em/1.45 ui-monospace, monospace; background: var(--code); border-radius: 4px; }
code { padding: .1em .3em; }
`;

/** The policy of a page with one `style` element of exactly this text: no script, no image, no frame, and forms to `formAction` only. */
export function contentSecurityPolicy(style: string, formAction: "'none'" | "'self'"): string {
  return [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
  ].join("; ");
}
