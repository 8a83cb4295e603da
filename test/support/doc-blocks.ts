/** A fenced block of a document, and the tests that check it according to the document. */
export interface DocBlock {
  /** Line of its fence, from 1. */
  line: number;
  /** Empty if the fence names none. */
  language: string;
  code: string;
  /** Paths of tests, `test/…`, in the comment above it, in the comment above the block whose answer it is, and in comments about the page. */
  heldBy: string[];
}

/** A comment that names a test: `<!-- test/x.test.ts runs this block -->`. */
const CLAIM = /^<!-- (test\/[\w./-]+\.test\.ts)\b(.*) -->$/;
/** A claim about the page, such as "runs every block of this page"; any other is about the block below. */
const OF_PAGE = /\bof this page\b/;
/** A claim that also covers the block after the next one, as the expected answer: "and expects this answer". */
const WITH_ANSWER = /\b(expects|with) (this|such|what|the|a real)\b/;

/** The blocks of a document in Markdown, also those in lists. */
export function docBlocks(markdown: string): DocBlock[] {
  const blocks: DocBlock[] = [];
  const ofPage: string[] = [];
  // The claim about the next block; ends at the first line of text.
  let next: { test: string; withAnswer: boolean } | undefined;
  let open: { block: DocBlock; fence: string } | undefined;
  markdown.split("\n").forEach((text, index) => {
    const line = text.trim();
    if (open) {
      if (line === open.fence) open = undefined;
      else open.block.code += `${text}\n`;
      return;
    }
    const fence = /^(`{3,})(\S*)/.exec(line);
    const claim = CLAIM.exec(line);
    if (fence) {
      const block = { line: index + 1, language: fence[2]!, code: "", heldBy: next ? [next.test] : [] };
      blocks.push(block);
      open = { block, fence: fence[1]! };
      next = next?.withAnswer === true ? { ...next, withAnswer: false } : undefined;
    } else if (claim) {
      const [, test, says] = claim;
      if (OF_PAGE.test(says!)) ofPage.push(test!);
      else next = { test: test!, withAnswer: WITH_ANSWER.test(says!) };
    } else if (line !== "") {
      next = undefined;
    }
  });
  for (const block of blocks) block.heldBy.push(...ofPage);
  return blocks;
}
