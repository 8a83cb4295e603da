import { posix } from "node:path";
import { decodeHTML } from "entities";
import { renderMarkdown } from "./markdown.js";
import { type DocsPage, readDocument } from "./pages.js";

/** A rendered page of the documentation. */
export interface Guide {
  page: DocsPage;
  html: string;
  sections: readonly GuideSection[];
}

/** The text below a heading of level two; for the text above the first one, id and title are empty. */
export interface GuideSection {
  id: string;
  title: string;
  text: string;
}

/** Reads and renders the file of a page; its links to other pages become relative. */
export async function readGuide(page: DocsPage, pages: readonly DocsPage[]): Promise<Guide> {
  const root = "../".repeat(page.name.split("/").length);
  const html = renderMarkdown(await readDocument(page.file), (linked) => {
    const target = posix.join(posix.dirname(page.file), linked);
    if (target.startsWith("../")) return null;
    const other = pages.find(({ file }) => file === target);
    return other && `${root}docs/${other.name}`;
  });
  return { page, html, sections: html.split(/(?=<h2 )/).map(sectionOf) };
}

function sectionOf(html: string): GuideSection {
  const [heading = "", id = "", title = ""] = /^<h2 id="(.*?)">(.*?)<\/h2>/.exec(html) ?? [];
  return { id, title: textOf(title), text: textOf(html.slice(heading.length)) };
}

/** The visible text of rendered markdown, in one line. */
function textOf(html: string): string {
  const text = html.replace(/<(?!\/?(?:a|code|em|span|strong)\b)[^>]*>/g, " ").replace(/<[^>]*>/g, "");
  return decodeHTML(text).replace(/\s+/g, " ").trim();
}
