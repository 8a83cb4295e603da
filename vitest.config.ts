import { readFileSync, statfsSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { defineConfig } from "vitest/config";

/**
 * Milliseconds of the files that take long, in the last run that `node scripts/test-durations.js` was given the report of. They begin first,
 * so that none of them runs alone at the end.
 */
const DURATIONS = JSON.parse(readFileSync(new URL("test/durations.json", import.meta.url), "utf8")) as Record<
  string,
  number
>;

/** Linux's file system in memory. Tests make and drop hundreds of databases, of hundreds of files each, which takes a disk a third longer. */
const MEMORY = "/dev/shm";
/** Ten times what a whole run was seen to need. */
const ROOM_MIN = 8e9;

/** Programs are run from there, too, which containers often forbid. */
function hasRoom(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    const [, options = ""] =
      new RegExp(`^\\S+ ${directory} \\S+ (\\S+)`, "m").exec(readFileSync("/proc/mounts", "utf8")) ?? [];
    return Math.min(bavail * bsize, os.freemem()) > ROOM_MIN && !options.split(",").includes("noexec");
  } catch {
    return false; // there is none on this system
  }
}

// For this process and all that it starts.
if (process.env["TMPDIR"] === undefined && hasRoom(MEMORY)) process.env["TMPDIR"] = MEMORY;

// Each start of Node.js reads these certificates, which takes twice as long as the rest of it; only npm downloads anything.
process.env["SVC_TEST_CA_CERTS"] = process.env["NODE_EXTRA_CA_CERTS"] ?? "";
delete process.env["NODE_EXTRA_CA_CERTS"];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const msOf = ({ moduleId }: TestSpecification) => DURATIONS[path.relative(import.meta.dirname, moduleId)] ?? 0;
    return (await super.sort(files)).toSorted((a, b) => msOf(b) - msOf(a));
  }
}

export default defineConfig({
  resolve: {
    alias: [
      { find: /^svc-success$/, replacement: fileURLToPath(new URL("src/dsl/index.ts", import.meta.url)) },
      { find: /^svc-success-client$/, replacement: fileURLToPath(new URL("src/client/index.ts", import.meta.url)) },
    ],
  },
  test: {
    // One more than the cores of a small machine: much of the time is waiting for a database or a process.
    maxWorkers: 3,
    // Much of what tests run is run once: optimizing it as early as usual costs a tenth of the time.
    execArgv: process.versions.node.startsWith("20.") ? ["--interrupt-budget=4000000"] : [],
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // The modules take longer to load than most files take to run.
    isolate: false,
    globalSetup: ["test/support/global-setup.ts"],
    include: ["test/**/*.test.ts"],
  },
});
