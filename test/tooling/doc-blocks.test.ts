import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { docBlocks } from "../support/doc-blocks.js";

const ROOT = path.resolve(import.meta.dirname, "../..");

const filesIn = (folder: string, ending: string) =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending) && !file.includes("node_modules"))
    .map((file) => path.posix.join(folder, file));
const markdownIn = (folder: string) => filesIn(folder, ".md");

const DOCUMENTS = ["README.md", ...markdownIn("docs"), ...markdownIn("examples"), ...markdownIn("starter")];

/** Documents that do not mention our tests, because `svc init` copies them into users' projects. */
const HELD_ELSEWHERE: Readonly<Record<string, string>> = {
  "starter/common/README.md": "test/cli/doc-commands.test.ts",
};

/** The source of a test, and of the test modules that it imports. */
function sourceOf(test: string, seen = new Set<string>()): string {
  if (seen.has(test)) return "";
  seen.add(test);
  const source = readFileSync(path.join(ROOT, test), "utf8");
  const imported = [...source.matchAll(/from "(\.[^"]+)\.js"/g)]
    .map(([, file]) => `${path.posix.join(path.posix.dirname(test), file!)}.ts`)
    .filter((file) => file.startsWith("test/") && existsSync(path.join(ROOT, file)));
  return source + imported.map((file) => sourceOf(file, seen)).join("");
}

/** Whether a test reads a document: it names its path or, if that is unambiguous, its file name. */
function reads(test: string, document: string): boolean {
  const name = path.posix.basename(document);
  return [document, ...(name === "README.md" && document !== name ? [] : [`"${name}"`])].some((text) =>
    sourceOf(test).includes(text),
  );
}

describe.each(DOCUMENTS)("%s", (document) => {
  const blocks = docBlocks(readFileSync(path.join(ROOT, document), "utf8"));
  const elsewhere = HELD_ELSEWHERE[document];
  if (elsewhere !== undefined) for (const block of blocks) block.heldBy.push(elsewhere);
  const tests = [...new Set(blocks.flatMap(({ heldBy }) => heldBy))];

  // Blocks without a language, and those of text, show output instead of commands.
  it("names for every block the test that runs or otherwise verifies it", () => {
    const unheld = blocks.filter(({ language, heldBy }) => !["", "text"].includes(language) && heldBy.length === 0);
    const fix = "write above it <!-- test/… runs this block -->, or how else that test holds it";
    expect(unheld.map(({ line, language }) => `${document}:${line} (${language}): ${fix}`)).toEqual([]);
  });

  it("names only existing tests that read it", () => {
    expect(tests.filter((test) => !existsSync(path.join(ROOT, test)))).toEqual([]);
    expect(tests.filter((test) => !reads(test, document))).toEqual([]);
  });
});

it("no document installs the unrelated package with our name from the public registry", () => {
  const fetched = /\bnpx svc(?=\s|$)|\bnpm (?:install|i|add|exec)(?: -\S+)* svc(?:@\S*)?(?=\s|$)/;
  const files = [
    ...DOCUMENTS,
    ...filesIn("starter", ".yml"),
    ...filesIn("starter", ".ts"),
    ...filesIn("starter", ".mjs"),
  ];
  const lines = files.flatMap((file) =>
    readFileSync(path.join(ROOT, file), "utf8")
      .split("\n")
      .map((text, index) => ({ text, at: `${file}:${index + 1}` })),
  );
  expect(lines.filter(({ text }) => fetched.test(text)).map(({ at }) => at)).toEqual([]);
  expect(["npx svc deploy", "npm install --global svc", "npm i svc@latest"].every((text) => fetched.test(text))).toBe(
    true,
  );
  expect(
    ["npm link svc", "npm install --global ./svc-0.1.0.tgz", "npx svc-server"].some((text) => fetched.test(text)),
  ).toBe(false);
});

const bash = "```bash\ntrue\n```\n";
const claim = (says: string) => `<!-- test/a.test.ts ${says} -->`;
const HELD = ["test/a.test.ts"];

it.each<[what: string, markdown: string, heldBy: string[][]]>([
  ["is on the block below it", `${claim("runs this block")}\n\n${bash}\n${bash}`, [HELD, []]],
  [
    "is on the answer, too, where one is expected",
    `${claim("runs this block and expects this answer")}\n\n${bash}\n${bash}\n${bash}`,
    [HELD, HELD, []],
  ],
  ["ends at the first text", `${claim("runs this block")}\n\nThen:\n\n${bash}`, [[]]],
  [
    "may be on a whole page, before and behind it",
    `${bash}\n${claim("runs every block of this page")}\n\n${bash}`,
    [HELD, HELD],
  ],
  ["counts in a list", `1. x\n\n   ${claim("runs this block")}\n\n   \`\`\`sh\n   x\n   \`\`\`\n`, [HELD]],
  ["does not count in a block", `\`\`\`md\n${claim("runs every block of this page")}\n\`\`\`\n`, [[]]],
])("a claim %s", (_, markdown, heldBy) => {
  expect(docBlocks(markdown).map((block) => block.heldBy)).toEqual(heldBy);
});
