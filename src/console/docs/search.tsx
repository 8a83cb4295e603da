import { setImmediate } from "node:timers/promises";
import MiniSearch, { type SearchOptions } from "minisearch";
import { Semaphore } from "../../http/semaphore.js";
import type { Guide, GuideSection } from "./guides.js";
import type { DocsPage } from "./pages.js";
import { Text } from "../parts.js";

/** A section of a page in which words were found. */
interface FoundPage {
  page: DocsPage;
  section: GuideSection;
  /** Those of the section, in small letters, that were looked for or are like what was. */
  words: readonly string[];
}

/** What a search came to. */
interface FoundSections {
  /** The best first. */
  pages: readonly FoundPage[];
  /** Whether the query had more words than are looked for. */
  isCut: boolean;
}

/** @throws {QueueFullError} where too many search at once, or `who` has several searches under way */
export type Search = (query: string, who: string) => Promise<FoundSections>;

/** Of a query so many words are looked for, the longest: a short one is the beginning of hundreds. */
const WORDS_MAX = 6;

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
  const places = new Semaphore({
    places: 1,
    waitingMax: 20,
    // One visitor does not fill the line.
    each: 10,
    waitMsMax: 2_000,
    reason: "Too many search the documentation.",
    reasonEach: "Ten searches of yours are under way.",
  });
  return (query, who) =>
    places.run(async () => {
      // Anybody may search; between two searches other requests are answered.
      await setImmediate();
      const words = [...new Set(split(query.toLowerCase()))].filter((word) => word !== "");
      words.sort((a, b) => b.length - a.length);
      const some = index.search(words.slice(0, WORDS_MAX).join(" "), OPTIONS);
      const all = some.filter(({ queryTerms }) => queryTerms.length === Math.min(words.length, WORDS_MAX));
      const found = all.length > 0 ? all : some;
      return {
        pages: found.map(({ id, terms }) => ({ ...sections[id as number]!, words: terms })),
        isCut: words.length > WORDS_MAX,
      };
    }, who);
}

/** Into words, as the index does it. */
const split = MiniSearch.getDefault("tokenize") as (text: string) => string[];

const FOUND_MAX = 20;

/** What a search found; links are relative to a page beside it. */
export function Results({ query, found: { pages: found, isCut } }: { query: string; found: FoundSections }) {
  const cut = isCut ? <p>Only its {WORDS_MAX} longest words were looked for.</p> : null;
  if (found.length === 0) {
    return (
      <>
        <p role="status">
          Nothing was found for “<Text>{query}</Text>”.
        </p>
        {cut}
        <p>
          Check the spelling, take fewer or other words, or look at <a href="../docs">the list of all pages</a>.
        </p>
      </>
    );
  }
  const shown = found.slice(0, FOUND_MAX);
  return (
    <>
      <p role="status">
        {found.length === 1 ? "1 section has" : `${found.length} sections have`} words of “<Text>{query}</Text>”
        {shown.length < found.length ? `; these are the best ${shown.length}.` : "."}
      </p>
      {cut}
      <ol class="found">
        {shown.map(({ page, section: { id, title, text }, words }) => {
          const address = id === "" ? page.name : `${page.name}#${id}`;
          return (
            <li key={address}>
              <a href={address}>{title === "" ? page.title : `${page.title}: ${title}`}</a>
              <p>{excerpt(text, words).map((piece, i) => (i % 2 === 1 ? <mark key={i}>{piece}</mark> : piece))}</p>
            </li>
          );
        })}
      </ol>
    </>
  );
}

/** The stretch of a text that has the most of the words, in pieces: every second one is such a word. */
function excerpt(text: string, words: readonly string[]): string[] {
  const escaped = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|");
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${escaped})(?![\\p{L}\\p{N}])`, "giu");
  const wordsOf = (stretch: string) => new Set(stretch.match(pattern)?.map((word) => word.toLowerCase())).size;
  const stretches = text.match(/\S.{0,200}(?!\S)/gu) ?? [""];
  const best = stretches.reduce((best, stretch) => (wordsOf(stretch) > wordsOf(best) ? stretch : best));
  const [before, after] = [best !== stretches[0], best !== stretches.at(-1)];
  return `${before ? "… " : ""}${best}${after ? " …" : ""}`.split(pattern);
}
