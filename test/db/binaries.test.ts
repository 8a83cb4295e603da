import { chmod, cp, lstat, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { serverAccount } from "../../src/db/embedded/account.js";
import { findBinaries, installedPackage } from "../../src/db/embedded/binaries.js";
import { runCommand } from "../../src/db/embedded/command.js";
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
