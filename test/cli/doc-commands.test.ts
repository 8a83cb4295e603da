import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it, test } from "vitest";

import { referencePage } from "../../scripts/lib/reference-page.js";
import { parseCommandLine } from "../../src/cli/core/adapter.js";
import { Settings } from "../../src/cli/core/settings.js";
import { project } from "../dsl-compiler/project.js";
import { docBlocks } from "../support/doc-blocks.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const blocksOf = (document: string, language: string) =>
  docBlocks(readFileSync(path.join(ROOT, document), "utf8")).filter((block) => block.language === language);

/** The `svc` command lines that bash runs for a block, after quotes, pipes and comments. Nothing else is run. */
async function commandLines(code: string): Promise<string[][]> {
  const directory = await project({ "svc.config.ts": "", called: "" });
  await mkdir(path.join(directory, ".config/fish/completions"), { recursive: true });
  const script = `svc() { printf '%s\\n' "$@" "--end--" >> ${directory}/called; }; jq() { cat; }\n${code}`;
  const env = { PATH: process.env["PATH"], HOME: directory };
  await promisify(execFile)("bash", ["-c", script], { cwd: directory, env });
  const lines = (await readFile(path.join(directory, "called"), "utf8")).split("--end--\n").slice(0, -1);
  return lines.map((words) => words.split("\n").slice(0, -1));
}

// The tests of each command cover what it does.
test.each(["docs/cli.md", "docs/trends.md", "docs/console.md", "docs/webhooks.md", "starter/common/README.md"])(
  "svc understands every command line of %s",
  async (document) => {
    // `svc init` replaces {{SETUP}} with a command that sends an event.
    const code = blocksOf(document, "sh")
      .map((block) => block.code.replace(/^\{\{SETUP\}\}.*$/m, ""))
      .join("");
    const lines = await commandLines(code);
    expect(lines).toHaveLength(
      code.match(/\bsvc (?=[a-z])/g)!.length - (code.match(/# .*\bsvc (?=[a-z])/g)?.length ?? 0),
    );
    for (const line of lines) {
      const parsed = await parseCommandLine(line, { width: 100, version: "0" });
      expect([line, parsed.kind]).toEqual([line, "run"]);
    }
  },
);

it("the configuration file of docs/cli.md has the documented effect", async () => {
  const [{ code } = { code: "" }] = blocksOf("docs/cli.md", "json");
  const cwd = await project({ ".kite/config.json": code });
  const io = { cwd, env: { SVC_ACCESS_TOKEN: "x" } } as unknown as ConstructorParameters<typeof Settings>[0];
  const settings = new Settings(io, undefined as never, {});
  const { project: slug, environment, apiUrl } = settings;
  const { organization } = settings.credentials();
  expect({ project: slug, defaultEnvironment: environment, organization, apiUrl }).toEqual(JSON.parse(code));
});

test("the programs that README.md, docs/quickstart.md, docs/operations/{attacks,faults,fuzz}.md and examples/README.md name exist", () => {
  const { scripts } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as { scripts: object };
  const documents = [
    "README.md",
    "docs/quickstart.md",
    "docs/operations/attacks.md",
    "docs/operations/faults.md",
    "docs/operations/fuzz.md",
    "examples/README.md",
  ];
  const commands = documents.flatMap((document) =>
    blocksOf(document, "sh").flatMap(({ code }) => [...code.matchAll(/^npm (?:run )?(?:--silent )?([\w:]+)(.*)$/gm)]),
  );
  const names = commands.map(([, name]) => name).sort();
  expect(names.join(" ")).toBe("attacks attacks bench build ci demo demo faults fuzz fuzz start");
  expect(commands.filter(([, name]) => name !== "ci" && !(name! in scripts))).toEqual([]);
  for (const [, , words] of commands) {
    const files = [...words!.matchAll(/\s(examples\/\S+)/g)].map(([, file]) => file!);
    expect(files.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
  }
});

test("docs/cli.md has the help of each command; npm run docs writes it", async () => {
  const { file, text } = await referencePage();
  expect(readFileSync(file, "utf8")).toBe(text);
});
