import { readFileSync, statfsSync } from "node:fs";
import os from "node:os";
import { fileURLToPath } from "node:url";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { defineConfig } from "vitest/config";

/** Tests of pure code: they need no server, and none is started where only they run. */
const PURE = [
  "test/model/**/*.test.ts",
  "test/engine/**/*.test.ts",
  "test/dsl/**/*.test.ts",
  "test/dsl-compiler/**/*.test.ts",
  "test/tooling/**/*.test.ts",
  "test/demo/**/*.test.ts",
  "test/local/**/*.test.ts",
  "test/examples/{examples,tools}.test.ts",
];

/** Files that take the longest begin first, so that none of them runs alone at the end. */
const LONG = [
  "test/e2e/faults.test.ts",
  "test/attacks/attacks.test.ts",
  "test/packaging/package.test.ts",
  "test/packaging/image.test.ts",
  "test/demo/demo.test.ts",
  "test/engine/aggregates.test.ts",
  "test/db/embedded.test.ts",
  "test/e2e/recompute.test.ts",
  "test/e2e/guides.test.ts",
  "test/e2e/tutorial.test.ts",
  "test/client/guide.test.ts",
  "test/examples/backfill.test.ts",
  "test/examples/backfill-guide.test.ts",
  "test/cli/confirm.test.ts",
  "test/server/operator.test.ts",
  "test/engine/properties-replay.test.ts",
  "test/dsl-compiler/robustness.test.ts",
  "test/dsl-compiler/once.test.ts",
  "test/spec/endpoints/command-line-client.test.ts",
  "test/e2e/killed-service.test.ts",
];

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

/** A process is kept for the next file where that is of the same project, so all of one project come before those of the other. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      const index = LONG.findIndex((name) => moduleId.endsWith(name));
      return (project.name === "database" ? 0 : 1_000) + (index < 0 ? LONG.length : index);
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  resolve: {
    alias: [
      { find: /^svc$/, replacement: fileURLToPath(new URL("src/dsl/index.ts", import.meta.url)) },
      { find: /^svc\/client$/, replacement: fileURLToPath(new URL("src/client/index.ts", import.meta.url)) },
    ],
  },
  test: {
    // One more than the cores of a small machine: much of the time is waiting for a database or a process.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // The modules take longer to load than most files take to run.
    isolate: false,
    projects: [
      { extends: true, test: { name: "pure", include: PURE } },
      {
        extends: true,
        test: {
          name: "database",
          include: ["test/**/*.test.ts"],
          exclude: PURE,
          globalSetup: ["test/support/global-setup.ts"],
        },
      },
    ],
  },
});
