import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir, rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect } from "vitest";
import { temporaryDirectory } from "./server.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** One of the programs that test the whole service, such as `npm run faults`, with a directory for its data. */
export function useRepositoryProgram(name: "attacks" | "faults" | "fuzz") {
  const program = {
    directory: "",
    start: (...args: string[]): ChildProcess =>
      spawn(process.execPath, ["--import", "tsx", `${name}/main.ts`, ...args], {
        cwd: ROOT,
        env: { ...process.env, TMPDIR: program.directory },
        stdio: ["ignore", "pipe", "inherit"],
      }),
    /** The names of the directories that its runs have left behind. */
    leftovers: async () => (await readdir(program.directory)).filter((entry) => entry.startsWith(`svc-${name}-`)),
    /** Interrupts a run at a line of its output, after `before`, and expects that it ends properly and leaves nothing behind. */
    async interrupt(args: string[], at: RegExp, before: (line: string) => Promise<void> = async () => {}) {
      const child = program.start(...args);
      const exited = once(child, "exit");
      for await (const line of createInterface({ input: child.stdout! })) {
        if (!at.test(line)) continue;
        await before(line);
        break;
      }
      child.stdout!.resume();
      child.kill("SIGINT");
      expect(await exited).toEqual([130, null]);
      expect(await program.leftovers()).toEqual([]);
    },
  };
  beforeAll(async () => void (program.directory = await temporaryDirectory()));
  afterAll(() => rm(program.directory, { recursive: true, force: true }));
  return program;
}
