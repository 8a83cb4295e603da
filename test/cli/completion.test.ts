import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";

import { namesWithValue, places, typed } from "../../src/cli/commands/completion.js";
import { commands, nouns } from "../../src/cli/core/registry.js";
import { project } from "../dsl-compiler/project.js";
import { isThere } from "./support/program.js";
import { svc } from "./support/run-svc.js";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** The output of `svc completion` for each shell. */
const scripts = {} as Record<Shell, string>;
beforeAll(async () => {
  for (const shell of SHELLS) scripts[shell] = (await svc(["completion", shell])).stdout;
});

/** A directory with the script of a shell, and files to complete. */
async function withScript(shell: Shell): Promise<{ cwd: string; script: string }> {
  const cwd = await project({ script: scripts[shell], "one.ts": "", "two words.ts": "", "folder/file.ts": "" });
  return { cwd, script: path.join(cwd, "script") };
}

async function run(program: string, argv: readonly string[], cwd: string): Promise<string[]> {
  const env = { PATH: process.env["PATH"], HOME: cwd, TERM: "xterm" };
  const { stdout } = await promisify(execFile)(program, argv, { cwd, env, timeout: 30_000 });
  return stdout.split("\n").filter((line) => line !== "");
}

/** The completions of a line in each shell, sorted. */
const offered: Record<Shell, (line: string, at: { cwd: string; script: string }) => Promise<string[]>> = {
  async bash(line, { cwd, script }) {
    // Bash splits words at "=" too, as in --env=test.
    const words = line.split(/ |(?<==)|(?==)/);
    const complete = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return (await run("bash", ["--norc", "-c", complete, "bash", script, ...words], cwd)).sort();
  },
  async zsh(line, { cwd, script }) {
    const driver = path.join(import.meta.dirname, "support/zsh-completion.zsh");
    const lines = await run("zsh", ["-f", driver, script, line], cwd);
    const hits = lines.flatMap((one) => /<HIT>(.*)<\/HIT>/.exec(one)?.[1]?.replaceAll("\\ ", " ") ?? []);
    // A completion that is added in several groups is offered once.
    return [...new Set(hits)].sort();
  },
  async fish(line, { cwd, script }) {
    const complete = `source $argv[1]; complete -C $argv[2]`;
    const lines = await run("fish", ["--no-config", "-c", complete, script, line], cwd);
    return lines.map((one) => one.replace(/^--env=|\t.*/g, "").replaceAll("\\ ", " ")).sort();
  },
};

const firstWords = [
  ...Object.keys(nouns),
  ...commands.map(({ path }) => path).filter((path) => !path.includes(" ")),
].sort();
const verbs = (noun: string) =>
  commands.flatMap(({ path }) => (path.startsWith(`${noun} `) ? [path.slice(noun.length + 1)] : [])).sort();

describe.each(SHELLS)("in %s", (shell) => {
  test.for([
    ["commands and nouns", "svc ", firstWords],
    ["the verbs of a noun", "svc customers ", verbs("customers")],
    ["the verbs of a command that has some", "svc recompute ", verbs("recompute")],
    ["what was begun", "svc customers ins", ["inspect"]],
    ["also after shared options, with and without a value", "svc --json --directory x customers ins", ["inspect"]],
    ["options of the command, and shared ones", "svc recompute --d", ["--debug", "--directory", "--dry-run"]],
    ["no option of another command", "svc overview --dr", []],
    ["the choices of an option", "svc overview --env ", ["live", "test"]],
    ["also behind its sign", "svc overview --env=l", ["live"]],
    ["the choices of an argument", "svc completion ", ["bash", "fish", "zsh"]],
    ["nothing where anything may stand", "svc events send ", []],
    ["nothing behind the last argument", "svc completion bash ", []],
  ] as const)("%s: %s", async ([, line, expected], { skip }) => {
    if (!isThere(shell)) skip(`there is no ${shell}`);
    expect(await offered[shell](line, await withScript(shell))).toEqual(expected);
  });

  test("files and directories", async ({ skip }) => {
    if (!isThere(shell)) skip(`there is no ${shell}`);
    const at = await withScript(shell);
    expect(await offered[shell]("svc types --output t", at)).toEqual(["two words.ts"]);
    const found = await offered[shell]("svc types --directory ", at);
    expect(found.map((name) => name.replace(/\/$/, ""))).toEqual(["folder"]);
  });
});

test("bash offers every word and every option at every position", async () => {
  const at = await withScript("bash");
  // One process for all lines.
  const all = await places({ commands, nouns });
  const lines = all.flatMap(({ path }) => [`svc ${path} `, `svc ${path} -`].map((line) => line.replace("  ", " ")));
  const each = `source "$1"; while IFS= read -r line; do
    IFS=" " read -ra COMP_WORDS <<< "$line"; case $line in *" ") COMP_WORDS+=("") ;; esac
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _svc; echo "\${COMPREPLY[*]}"; done < lines`;
  await writeFile(path.join(at.cwd, "lines"), `${lines.join("\n")}\n`);
  const { stdout } = await promisify(execFile)("bash", ["--norc", "-c", each, "bash", at.script], { cwd: at.cwd });
  const expected = all.flatMap(({ words, options, args: [first] }) => [
    [...words.map(({ word }) => word), ...(Array.isArray(first) ? (first as string[]) : [])],
    options.flatMap(typed),
  ]);
  expect(stdout.split("\n").slice(0, -1)).toEqual(expected.map((words) => words.join(" ")));
});

test("an option takes a value at every position or at none", async () => {
  const all = await places({ commands, nouns });
  const withValue = namesWithValue(all);
  // After `svc --version`, nothing follows.
  const flags = all
    .filter(({ path }) => path !== "")
    .flatMap(({ options }) => options.filter(({ value }) => value === undefined).flatMap(typed));
  expect(flags.filter((name) => withValue.includes(name))).toEqual([]);
});

test("as JSON", async () => {
  const { stdout } = await svc(["completion", "fish", "--json"]);
  expect(JSON.parse(stdout)).toEqual({ shell: "fish", script: scripts.fish });
});
