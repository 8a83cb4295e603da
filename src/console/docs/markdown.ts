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

/** Where a page's link to a file leads, where that is a page as well; null where it leads to a file that nobody is served: an example, a test. */
type AddressOf = (file: string) => string | null | undefined;

/** Our pages' markdown as HTML: headings can be linked to, what is wide scrolls by itself and by keyboard, raw HTML is left out. */
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

  // An empty cell is no heading.
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

/** As GitHub makes them, so that a link in the file works in both places; but an error's code stays as it is: `error.docs` ends with it. */
function headingId(text: string): string {
  if (/^[A-Z]+(?:_[A-Z]+)*$/.test(text)) return text;
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

// Those of the documentation; each also knows its short names, such as `ts` and `sh`.
const LANGUAGES = { bash, http, javascript, json, nginx, python, shell, sql, typescript, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Code as HTML with what is to be coloured in `span`s; null where the language is not known, as that of `text` is not. */
export function highlight(code: string, language: string): string | null {
  if (hljs.getLanguage(language) === undefined) return null;
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}
