import { Text } from "../parts.js";
import { type FoundSections, WORDS_MAX } from "./search.js";

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
