import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

// Operators search the log for messages that the documentation quotes.

const ROOT = path.resolve(import.meta.dirname, "../..");

const textsIn = (folder: string, ending: string) =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending))
    .map((file) => [file, readFileSync(path.join(ROOT, folder, file), "utf8")] as const);

/** Sentences in backticks, also across lines: four words or more, without characters of names, SQL or commands. */
const quotedIn = (markdown: string) =>
  markdown
    .replace(/^ *```.*?^ *```$/gms, "")
    .split("\n\n")
    .flatMap((text) => [...text.replace(/\s+/g, " ").matchAll(/`([A-Za-z][a-z']*(?:,? [a-z']+){3,}\.?)`/g)])
    .map(([, sentence]) => sentence!);

it("the service writes every log message that docs/operations quotes", () => {
  const source = textsIn("src", ".ts")
    .map(([, text]) => text)
    .join("\n")
    .replace(/["`]\s*\+\s*["`]/g, ""); // texts in several parts
  const quoted = textsIn("docs/operations", ".md").flatMap(([file, text]) =>
    quotedIn(text).map((sentence) => `${file}: ${sentence}`),
  );
  expect(quoted).toEqual(
    expect.arrayContaining([
      "logs.md: an unhandled error ends the process",
      "upgrade.md: the migration waits for a lock that another session holds",
    ]),
  );
  expect(quoted.filter((line) => !source.includes(line.slice(line.indexOf(": ") + 2)))).toEqual([]);
});
