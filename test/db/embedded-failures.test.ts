import { execFile } from "node:child_process";
import { readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test, type TestContext } from "vitest";
import { openCluster } from "../../src/db/embedded/cluster.js";
import { SetupError } from "../../src/db/embedded/command.js";
import { startEmbedded } from "../../src/db/embedded/embedded.js";
import { findPostmaster, halt, launch } from "../../src/db/embedded/postmaster.js";
import { runServer } from "../server/support/run-server.js";
import { endServer, temporaryDirectory } from "../support/server.js";

const OPTIONS = { sync: false, settings: { shared_buffers: "16MB" } };
const MIB = 1024 ** 2;
const run = promisify(execFile);

async function useDirectory(): Promise<string> {
  const directory = await temporaryDirectory();
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** A directory that is a disk of this size; skips the test where none may be mounted. */
async function useDisk({ skip }: TestContext, mib: number): Promise<string> {
  const directory = await useDirectory();
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${mib}m,mode=0711`, "tmpfs", directory]);
  } catch {
    skip("no disk may be mounted here");
  }
  onTestFinished(async () => {
    if ((await readdir(directory)).includes("postgres")) await endServer(directory);
    await run("umount", [directory]);
  });
  return directory;
}

/** Fills a disk except for these MiB. */
async function fill(directory: string, left: number): Promise<void> {
  const { stdout } = await run("df", ["--output=avail", "--block-size=1", directory]);
  await writeFile(path.join(directory, "filler"), Buffer.alloc(Number(stdout.split("\n")[1]) - left * MIB));
}

/** The message of a failure that needs no stack. */
async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(SetupError);
  return (error as SetupError).message;
}

test("if initdb fails, one line has its reason, and nothing is left behind", async () => {
  const directory = await useDirectory();
  const settings = { ...OPTIONS.settings, work_mem: "nonsense" };
  expect(await refusal(openCluster(directory, { ...OPTIONS, settings }))).toMatch(
    new RegExp(
      `^PostgreSQL cannot make a database in ${directory} \\(invalid value for parameter "work_mem": "nonsense" \\| ` +
        "configuration file .+ contains errors\\); correct that, or set SVC_DATA_DIR to another directory$",
    ),
  );
  expect(await readdir(directory)).toEqual([]);
});

test("a name that a shell would read otherwise is refused before anything is made", async () => {
  const directory = await useDirectory();
  for (const name of ["a`id`b", "a$x", 'a"b', "a\nb"])
    expect(await refusal(openCluster(path.join(directory, name), OPTIONS))).toContain(
      "; set SVC_DATA_DIR to another one",
    );
  expect(await readdir(directory)).toEqual([]);
});

const tooSmall = (directory: string, reason: RegExp) =>
  new RegExp(
    `^there is too little space in ${directory} for a new database \\(${reason.source}\\); ` +
      "it takes 100 MB: free as much there, or set SVC_DATA_DIR to a directory on another disk$",
  );

test("a disk too small for initdb is named in one line, and nothing is left behind", async (context) => {
  const directory = await useDisk(context, 30);
  expect(await refusal(openCluster(directory, OPTIONS))).toMatch(
    tooSmall(directory, /could not write to file "[^"\n]+": No space left on device/),
  );
  expect(await readdir(directory)).toEqual([]);

  await fill(directory, 0);
  expect(await refusal(openCluster(directory, OPTIONS))).toMatch(tooSmall(directory, /[^\n]*ENOSPC[^\n]*/));
});

test("a disk that is full before the service's database exists, or its tables, is named in one line, and the server ends", async (context) => {
  const directory = await useDisk(context, 100);
  const cluster = await openCluster(directory, OPTIONS);
  await fill(directory, 0.5);
  expect(await refusal(startEmbedded(directory, OPTIONS))).toMatch(tooSmall(directory, /could not extend file [^\n]+/));
  expect(await findPostmaster(cluster)).toBeNull();

  await rm(path.join(directory, "filler"));
  const server = await startEmbedded(directory, OPTIONS);
  onTestFinished(() => server.stop());
  await fill(directory, 1);
  const { code, stderr } = await runServer(undefined, ["migrate"], { SVC_DATA_DIR: directory });
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^svc-server: [^\\n]+ \\(53100\\); free space on the disk of ${directory}\\n$`));
});

test("a server that cannot write its last checkpoint is stopped without one, and the next start recovers", async () => {
  const cluster = await openCluster(await useDirectory(), OPTIONS);
  onTestFinished(() => halt(cluster));
  await launch(cluster);
  const { pid } = (await findPostmaster(cluster))!;
  const { stdout } = await run("pgrep", ["--parent", String(pid), "--full", "checkpointer"]);
  process.kill(Number(stdout), "SIGSTOP");
  await halt(cluster, { fast: 0.2, immediate: 60 });
  expect(await findPostmaster(cluster)).toBeNull();
  await launch(cluster);
  expect(await findPostmaster(cluster)).toMatchObject({ status: "ready" });
});
