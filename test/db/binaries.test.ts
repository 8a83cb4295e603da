import { chmod, cp, lstat, mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { serverAccount } from "../../src/db/embedded/account.js";
import { findBinaries, installedPackage } from "../../src/db/embedded/binaries.js";
import { runCommand, SetupError } from "../../src/db/embedded/command.js";
import { useDirectory } from "../support/directory.js";

/** The platform's package as npm unpacks it without install scripts: without symlinks. */
const directory = await useDirectory();
const installed = await installedPackage();
const bare = { directory: path.join(directory, "package"), version: `${installed.version}-test-${process.pid}` };
const filter = async (source: string) => !(await lstat(source)).isSymbolicLink();
await cp(installed.directory, bare.directory, { recursive: true, filter });

test("without the install script the libraries are linked at the first start", async () => {
  const account = await serverAccount();
  const { initdb, major } = await findBinaries(account, bare);
  expect(initdb.startsWith(bare.directory)).toBe(true);
  expect(await runCommand(initdb, ["--version"], account)).toContain(`initdb (PostgreSQL) ${major}.`);
});

test.runIf(process.geteuid?.() === 0)(
  "programs the server's user cannot reach are copied to where it can",
  async () => {
    await chmod(bare.directory, 0o700);
    const account = await serverAccount();
    const [first, second] = await Promise.all([findBinaries(account, bare), findBinaries(account, bare)]);
    const copy = path.dirname(path.dirname(first.initdb));
    try {
      expect(second).toEqual(first);
      expect(first.initdb.startsWith(directory)).toBe(false);
      expect(await runCommand(first.pgCtl, ["--version"], account)).toContain("PostgreSQL");
      const leftovers = (await readdir(path.dirname(copy))).filter((name) =>
        name.startsWith(`${path.basename(copy)}-`),
      );
      expect(leftovers).toEqual([]);
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  },
);

test("programs that cannot be copied are reported in one line, and nothing is left of the copy", async () => {
  const temporary = path.join(directory, "temporary");
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const incomplete = { directory: path.join(directory, "incomplete"), version: bare.version };
  const refusal = () => findBinaries(null, incomplete).catch((error: unknown) => error);
  for (const make of [() => undefined, () => mkdir(temporary)]) {
    await make();
    const error = await refusal();
    expect(error).toBeInstanceOf(SetupError);
    expect((error as Error).message).toMatch(
      new RegExp(
        `^cannot copy PostgreSQL's programs to ${temporary}/[^\n]+ \\(ENOENT: [^\n]+\\); they take 60 MB: make room there, `,
      ),
    );
  }
  expect(await readdir(temporary)).toEqual([]);
});
