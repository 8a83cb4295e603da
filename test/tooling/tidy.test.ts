import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { repository } from "./support/project.js";

interface Line {
  file: string;
  number: number;
  text: string;
}

/** All files that are or could be committed, except for the lock file, which npm writes. */
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], { cwd: repository })
  .toString()
  .split("\0")
  .filter((file) => file !== "" && file !== "package-lock.json" && existsSync(path.join(repository, file)));

const lines: Line[] = files.flatMap((file) => {
  const content = readFileSync(path.join(repository, file));
  if (content.includes(0)) return [];
  return content
    .toString()
    .split("\n")
    .map((text, index) => ({ file, number: index + 1, text }));
});

const self = "test/tooling/tidy.test.ts";
const inSrc = ({ file }: Line) => file.startsWith("src/");
const inTests = ({ file }: Line) => /^test\/.*\.ts$/.test(file) && file !== self;

/** The lines that a pattern matches, as `file:line: text`. */
function matches(pattern: RegExp, where: (line: Line) => boolean): string[] {
  return lines
    .filter((line) => where(line) && pattern.test(line.text))
    .map(({ file, number, text }) => `${file}:${number}: ${text.trim()}`);
}

/** Checks a pattern on examples that it must and must not match, because a pattern that matches nothing proves nothing. */
function expectPattern(pattern: RegExp, { bad, good }: { bad: string[]; good: string[] }): void {
  expect(bad.filter((text) => !pattern.test(text))).toEqual([]);
  expect(good.filter((text) => pattern.test(text))).toEqual([]);
}

test("the repository is searched", () => {
  expect(files).toContain("package.json");
  expect(files).toContain("src/model/snapshot/types.ts");
});

test.each<[what: string, pattern: RegExp, examples: { bad: string[]; good: string[] }]>([
  [
    "a path of the machine it was written on",
    /(?<![\w.*/~-])\/(work|root|home|Users|tmp)\/\w|\b[A-Z]:\\Users\\/,
    {
      bad: ['"/wo' + 'rk/main"', "file:///home/me/x".slice(7), "see /tmp/notes.md", "C:\\Users\\me"],
      good: ["https://example.com/home/page", "src/work/x", "/workers/1", "~/tmp/x", "../tmp/x"],
    },
  ],
  [
    "a package registry's host",
    /\bregistry\.(npmjs|yarnpkg)\.|\b(npm|registry|artifactory|nexus|verdaccio)\.[\w-]+\.(internal|local|corp)\b/i,
    {
      bad: ["https://registry." + "npmjs.org/x", "http://npm.acme.internal/"],
      good: ["the error registry.", "npm.run"],
    },
  ],
  [
    "something outside of the repository",
    /(\.\.\/shared\/|\bshared\/)(\w+\.md|spec\b|data\b)|\b(DESIGN|STYLE|MODEL|EXAMPLES)\.md\b/,
    {
      bad: ["../sha" + "red/data/x.jsonl", "see DESIGN.md"],
      good: ['from "../sha' + 'red/errors.js"', "shared_buffers"],
    },
  ],
])("no file names %s", (_, pattern, examples) => {
  expectPattern(pattern, examples);
  expect(matches(pattern, ({ file }) => file !== self)).toEqual([]);
});

describe("no source has", () => {
  test("a note of unfinished work", () => {
    const pattern = /\b(TODO|FIXME|XXX|HACK)\b/;
    expect(matches(pattern, (line) => inSrc(line) || /^(sql|bin|scripts)\//.test(line.file))).toEqual([]);
  });

  test("direct output, except for the CLI's output module and the demo", () => {
    // An instrumentation plan has programs for users, which report themselves what they could not send.
    const allowed = /^src\/(cli\/output\/|cli\/commands\/ai\/instrumentation-node\.ts|demo\/)/;
    // A file can have this name.
    const pattern = /(?<!\/)\bconsole\.\w+|\bdebugger;/;
    expect(matches(pattern, (line) => inSrc(line) && !allowed.test(line.file))).toEqual([]);
  });

  test("a statement on tables: only src/db and the server's migrations use them, other parts call database functions", () => {
    const pattern = /\b(from|join|into|update|truncate|table)\s+(only\s+)?(svc|iam)\.\w+(?!\w*\()/i;
    expectPattern(pattern, {
      bad: ["select 1 from svc.events", "insert into iam.users", "update svc.customers set"],
      good: ["select * from svc_api.ingest(", "from svc_inspect.customers", 'import x from "svc-success"'],
    });
    expect(matches(pattern, (line) => inSrc(line) && !/^src\/(db|server)\/migrate/.test(line.file))).toEqual([]);
  });
});

test("a name is exported by only one file of src, except for public imports and the engine's names for API answers", () => {
  const definition = /^export (?:abstract |async )?(?:class|const|enum|function\*?|interface|let|type) (\w+)/;
  const definedIn = new Map<string, Set<string>>();
  for (const { file, text } of lines.filter(inSrc)) {
    const name = definition.exec(text)?.[1];
    if (name !== undefined) definedIn.set(name, (definedIn.get(name) ?? new Set()).add(file));
  }
  expect(definedIn.size).toBeGreaterThan(1_000);
  const several = [...definedIn]
    .map(([name, of]) => [name, [...of].filter((file) => !/^src\/(client|dsl)\//.test(file))] as const)
    .filter(([, of]) => of.length > 1);
  expect(Object.fromEntries(several)).toEqual({
    Cause: ["src/engine/state/types.ts", "src/http/admin/answers.ts"],
    CustomerState: ["src/engine/state/types.ts", "src/http/admin/answers.ts"],
  });
});

describe("no test", () => {
  test("is marked to run alone", () => {
    const pattern = /\b(test|it|describe|suite|bench)(\.\w+)*\.only\b/;
    expectPattern(pattern, {
      bad: ['test.only("x")', 'describe.concurrent.only("x")'],
      good: ["read.only", "testing only"],
    });
    expect(matches(pattern, inTests)).toEqual([]);
  });

  test("is skipped without saying why, in a comment `skipped: …` before it or in the same line", () => {
    const pattern = /\b(test|it|describe|suite)(\.\w+)*\.(skip|todo|fails)\b|\b(context|ctx)\.skip\(\s*\)/;
    expectPattern(pattern, {
      bad: ['test.skip("x")', "describe.todo(", "context.skip()"],
      good: ['context.skip("no Docker here")', "test.runIf(asRoot)("],
    });
    const reason = /\/\/ skipped: \w+/;
    const unexplained = lines.filter((line, index) => {
      if (!inTests(line) || !pattern.test(line.text) || reason.test(line.text)) return false;
      const before = lines[index - 1];
      return before?.file !== line.file || !reason.test(before.text);
    });
    expect(unexplained.map(({ file, number }) => `${file}:${number}`)).toEqual([]);
  });
});
