import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

import { ADVISED_COMMAND } from "../../src/cli/commands/diagnose.js";
import { parseCommandLine } from "../../src/cli/core/adapter.js";
import { commands } from "../../src/cli/core/registry.js";
import { type Io, Out, WITHOUT_PROJECT } from "../../src/cli/output/out.js";
import { project } from "../dsl-compiler/project.js";

const parse = (line: string) => parseCommandLine(line.split(" ").slice(1), { width: 100, version: "0" });

function outIn(cwd: string, place: { env?: string; project?: string; directory?: string }): Out {
  const io = { stdout: {}, stderr: {}, env: {}, cwd, now: () => 0 } as unknown as Io;
  return new Out(io, { json: false, noColor: true, ...place });
}

test("a printed command has the given options of place, once, and only those that it accepts", async () => {
  const cwd = await project({});
  const out = outIn(cwd, { env: "live", project: "shop", directory: "." });
  expect(out.typed("svc recompute list")).toBe("svc recompute list --env live --project shop --directory .");
  expect(out.typed("svc keys list --env test")).toBe("svc keys list --env test --project shop --directory .");
  expect(out.typed("svc auth login")).toBe("svc auth login --directory .");
  expect(out.typed("svc recompute --help")).toBe("svc recompute --help");
  expect(out.typedIn("see `svc overview`, or `svc whoami`")).toBe(
    "see `svc overview --env live --project shop --directory .`, or `svc whoami --directory .`",
  );
  // A missing directory has no settings, and only `svc init` creates it.
  const elsewhere = outIn(cwd, { directory: "a b" });
  expect(elsewhere.typed("svc projects list")).toBe("svc projects list");
  expect(elsewhere.typed("svc init --existing --slug shop")).toBe("svc init --existing --slug shop --directory 'a b'");
  expect(outIn(cwd, {}).typed("svc recompute list")).toBe("svc recompute list");
});

test("only commands that take no project are printed without one", async () => {
  const loaded = await Promise.all(commands.map(async ({ path: words, load }) => [words, await load()] as const));
  const without = loaded.filter(([, { options }]) => !Object.hasOwn(options ?? {}, "project")).map(([words]) => words);
  expect(without).toEqual(
    commands.map(({ path: words }) => words).filter((words) => WITHOUT_PROJECT.test(`svc ${words}`)),
  );
});

test("every printed command parses", async () => {
  const folder = path.join(import.meta.dirname, "../../src/cli");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  /** Examples for the interpolated parts of a command. */
  const parts = { "${scope}": "--all", "${what}": "status", "${options}": "--env test" };
  const lines = new Set<string>();
  for (const file of files) {
    let source = readFileSync(path.join(folder, file), "utf8").replaceAll("\\`", "`");
    for (const [part, words] of Object.entries(parts)) source = source.replaceAll(part, words);
    // Commands with quoted words are examples, which other tests run.
    for (const [, line] of source.matchAll(/`(svc [a-z]+[ -][^`'\n]*)`/g)) {
      lines.add(
        line!
          .replaceAll(/\$\{[^}]*\}|<\w+>/g, "x")
          .replace("--env x", "--env live")
          .replace("--role x", "--role viewer"),
      );
    }
  }
  expect(lines.size).toBeGreaterThan(30);
  for (const line of lines) {
    const { kind } = await parse(line).catch((error: unknown) => ({ kind: (error as Error).message }));
    expect(["run", "print"], line).toContain(kind);
  }
});

test("every command that a finding of the service advises parses, up to the part that users fill in", async () => {
  const folder = path.join(import.meta.dirname, "../../sql/functions/monitoring");
  const lines = readdirSync(folder)
    .filter((name) => name.startsWith("check_"))
    .flatMap((name) => readFileSync(path.join(folder, name), "utf8").match(/'[^'\n]*'/g) ?? [])
    .flatMap((text) => text.slice(1, -1).match(ADVISED_COMMAND) ?? []);
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) {
    const { kind } = await parse(line.replaceAll(/%(1\$)?s/g, "live")).catch((error: unknown) => ({
      kind: (error as Error).message,
    }));
    expect(kind, line).toBe("run");
  }
});
