import { readFileSync } from "node:fs";

const guide = readFileSync(new URL("../../../docs/deploy.md", import.meta.url), "utf8");

/** A block of docs/deploy.md with the answer below it. */
export interface Block {
  code: string;
  answer: string | undefined;
}

/** The blocks of the guide that are marked as run by a test, in order. */
export function blocksOf(test: string): Block[] {
  const marked = new RegExp(
    `<!-- ${test} runs this block -->\n\n\`\`\`\\w+\n(.*?)^\`\`\`\n(?:\n\`\`\`\n(.*?)\n\`\`\`)?`,
    "gms",
  );
  return [...guide.matchAll(marked)].map(([, code, answer]) => ({ code: code!, answer }));
}
