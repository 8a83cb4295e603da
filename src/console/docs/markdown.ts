import { Marked, Renderer, type Tokens } from "marked";
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import http from "highlight.js/lib/languages/http";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import nginx from "highlight.js/lib/languages/nginx";
import python from "highlight.js/lib/languages/python";
import shell from "highlight.js/lib/languages/shell";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import yaml from "highlight.js/lib/languages/yaml";

/** The address of a linked file: undefined keeps the link as it is, null removes it because the file (an example, a test) is not served. */
type AddressOf = (file: string) => string | null | undefined;

/** Renders our markdown as HTML: headings have ids, wide tables and code scroll, also by keyboard, and raw HTML is left out. */
export function renderMarkdown(text: string, addressOf: AddressOf): string {
  return new Marked().parse(text, { async: false, renderer: new PageRenderer(addressOf) });
}

class PageRenderer extends Renderer {
  /** The id of the latest heading. */
  #heading = "";

  constructor(private readonly addressOf: AddressOf) {
    super();
  }

  override heading({ tokens, depth, text }: Tokens.Heading): string {
    this.#heading = headingId(text);
    return `<h${depth} id="${this.#heading}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  }

  override table(token: Tokens.Table): string {
    return `<div class="scroll" role="group" tabindex="0" aria-labelledby="${this.#heading}">${super.table(token)}</div>\n`;
  }

  // An empty header cell is not a heading.
  override tablecell(token: Tokens.TableCell): string {
    return super.tablecell({ ...token, header: token.header && token.text !== "" });
  }

  override code(token: Tokens.Code): string {
    const coloured = highlight(token.text, token.lang ?? "");
    const html = super.code(coloured === null ? token : { ...token, text: coloured, escaped: true });
    return html.replace(/^<pre>/, '<pre tabindex="0">');
  }

  override link(token: Tokens.Link): string {
    const [file = "", fragment] = token.href.split("#");
    const address = this.addressOf(file);
    if (address === null) return this.parser.parseInline(token.tokens);
    return super.link(
      address === undefined ? token : { ...token, href: fragment === undefined ? address : `${address}#${fragment}` },
    );
  }

  override html(): string {
    return "";
  }
}

/** The id that GitHub gives a heading, so that links work in both places. Error codes stay unchanged: `error.docs` ends with them. */
function headingId(text: string): string {
  if (/^[A-Z]+(?:_[A-Z]+)*$/.test(text)) return text;
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

// The languages in the documentation; each includes its short names, such as `ts` and `sh`.
const LANGUAGES = { bash, http, javascript, json, nginx, python, shell, sql, typescript, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Code as HTML with highlighted tokens in `span`s; null for an unknown language, such as `text`. */
export function highlight(code: string, language: string): string | null {
  if (hljs.getLanguage(language) === undefined) return null;
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}
