import { Marked, Renderer, type Tokens } from "marked";

/** A heading that is an error's code keeps it as its id, letter by letter: `error.docs` ends with it. */
const CODE = /^[A-Z]+(?:_[A-Z]+)*$/;

/** Where a page's link to a file leads, where that is a page as well; null where it leads to a file that nobody is served: an example, a
 * test. */
export type AddressOf = (file: string) => string | null | undefined;

/** Our pages' markdown as HTML: headings can be linked to, what is wide scrolls by itself and by keyboard, raw HTML is left out. */
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
    return `<section class="scroll" tabindex="0" aria-labelledby="${this.#heading}">${super.table(token)}</section>\n`;
  }

  override code(token: Tokens.Code): string {
    return super.code(token).replace(/^<pre>/, '<pre tabindex="0">');
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

/** Renders a page's content. `addressOf` finds other pages, for links between them. */
export function renderMarkdown(markdown: string, addressOf: AddressOf): string {
  return new Marked().parse(markdown, { async: false, renderer: new PageRenderer(addressOf) });
}

/** As GitHub makes them, so that a link in the file works in both places. */
function headingId(text: string): string {
  if (CODE.test(text)) return text;
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}
