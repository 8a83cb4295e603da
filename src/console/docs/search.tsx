import { setImmediate } from "node:timers/promises";
import MiniSearch, { type SearchOptions } from "minisearch";
import { Semaphore } from "../../http/semaphore.js";
import type { Guide, GuideSection } from "./guides.js";
import type { DocsPage } from "./pages.js";
import { Text } from "../parts.js";

/** A section in which words were found. */
interface FoundPage {
  page: DocsPage;
  section: GuideSection;
  /** Words of the section, in lower case, that match the query exactly or approximately. */
  words: readonly string[];
}

/** The result of a search. */
interface FoundSections {
  /** The best first. */
  pages: readonly FoundPage[];
  /** Whether the query had more words than WORDS_MAX. */
  isCut: boolean;
}

/** @throws {QueueFullError} if too many searches are waiting, or too many of `who` */
export type Search = (query: string, who: string) => Promise<FoundSections>;

/** Only the longest words of a query are searched for, because a short one is the prefix of hundreds. */
const WORDS_MAX = 6;

/** A word also matches longer words that begin with it; a long one also matches words that differ in one letter. */
const OPTIONS: SearchOptions = {
  boost: { title: 3, page: 2 },
  prefix: (word) => word.length > 2,
  fuzzy: (word) => (word.length > 4 ? 1 : 0),
};

/** Indexes all sections. A search finds the sections with all words, or else those with some of them, best first. */
export async function indexSections(guides: readonly Guide[]): Promise<Search> {
  const sections = guides.flatMap(({ page, sections }) => sections.map((section) => ({ page, section })));
  const index = new MiniSearch({ fields: ["page", "title", "text"] });
  const documents = sections.map(({ page, section: { title, text } }, id) => ({ id, page: page.title, title, text }));
  // In chunks, so that other requests are answered in between.
  await index.addAllAsync(documents, { chunkSize: 20 });
  const places = new Semaphore({
    places: 1,
    waitingMax: 20,
    // One visitor cannot fill the queue.
    each: 10,
    waitMsMax: 2_000,
    reason: "Too many people are searching the documentation.",
    reasonEach: "Ten of your searches are already under way.",
  });
  return (query, who) =>
    places.run(async () => {
      // Lets other requests be answered between two searches, which need no sign-in.
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

/** Splits text into words as the index does. */
const split = MiniSearch.getDefault("tokenize") as (text: string) => string[];

const FOUND_MAX = 20;

/** The results of a search; links are relative to the address of a page. */
export function Results({ query, found: { pages: found, isCut } }: { query: string; found: FoundSections }) {
  const cut = isCut ? <p>Only the {WORDS_MAX} longest words were searched for.</p> : null;
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

/** The excerpt of a text with the most matching words, split so that every second piece is such a word. */
function excerpt(text: string, words: readonly string[]): string[] {
  const escaped = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|");
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${escaped})(?![\\p{L}\\p{N}])`, "giu");
  const wordsOf = (stretch: string) => new Set(stretch.match(pattern)?.map((word) => word.toLowerCase())).size;
  const stretches = text.match(/\S.{0,200}(?!\S)/gu) ?? [""];
  const best = stretches.reduce((best, stretch) => (wordsOf(stretch) > wordsOf(best) ? stretch : best));
  const [before, after] = [best !== stretches[0], best !== stretches.at(-1)];
  return `${before ? "… " : ""}${best}${after ? " …" : ""}`.split(pattern);
}
