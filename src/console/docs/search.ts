import MiniSearch, { type SearchOptions } from "minisearch";
import type { Guide, GuideSection } from "./guides.js";
import type { DocsPage } from "./pages.js";

/** A section of a page in which words were found. */
export interface FoundPage {
  page: DocsPage;
  section: GuideSection;
  /** Those of the section, in small letters, that were looked for or are like what was. */
  words: readonly string[];
}

export type Search = (query: string) => readonly FoundPage[];

/** A word also finds longer ones that begin with it, and a long one those that differ in a letter. */
const OPTIONS: SearchOptions = {
  boost: { title: 3, page: 2 },
  prefix: (word) => word.length > 2,
  fuzzy: (word) => (word.length > 4 ? 1 : 0),
};

/** Makes the index of all sections. It finds those that have every word, else those that have some of them, the best first. */
export async function indexSections(guides: readonly Guide[]): Promise<Search> {
  const sections = guides.flatMap(({ page, sections }) => sections.map((section) => ({ page, section })));
  const index = new MiniSearch({ fields: ["page", "title", "text"] });
  const documents = sections.map(({ page, section: { title, text } }, id) => ({ id, page: page.title, title, text }));
  // Piece by piece, so that other requests are answered in between.
  await index.addAllAsync(documents, { chunkSize: 20 });
  return (query) => {
    const all = index.search(query, { ...OPTIONS, combineWith: "AND" });
    const found = all.length > 0 ? all : index.search(query, OPTIONS);
    return found.map(({ id, terms }) => ({ ...sections[id as number]!, words: terms }));
  };
}
