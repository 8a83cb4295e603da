import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { resolveSecret } from "../../src/server/secret.js";
import { temporaryDirectory } from "../support/server.js";

let directory: string;
beforeEach(async () => void (directory = await temporaryDirectory()));
afterEach(() => rm(directory, { recursive: true, force: true }));

test("a configured secret is used, and none is stored", async () => {
  const secret = "x".repeat(32);
  expect(await resolveSecret({ secret, dataDir: directory })).toBe(secret);
  expect(await readdir(directory)).toEqual([]);
});

test("a secret is created once, readable only by its owner, even if processes start at once", async () => {
  const dataDir = path.join(directory, "data");
  const config = { secret: null, dataDir };
  const secrets = await Promise.all(Array.from({ length: 5 }, () => resolveSecret(config)));
  expect(new Set([...secrets, await resolveSecret(config)]).size).toBe(1);
  expect(secrets[0]?.length).toBeGreaterThanOrEqual(32);
  expect(await readdir(dataDir)).toEqual(["secret"]);
  expect((await stat(path.join(dataDir, "secret"))).mode & 0o777).toBe(0o600);
});

test("a damaged file is refused and left unchanged", async () => {
  await writeFile(path.join(directory, "secret"), "\n");
  await expect(resolveSecret({ secret: null, dataDir: directory })).rejects.toThrow("holds no secret of at least 32");
  expect(await readFile(path.join(directory, "secret"), "utf8")).toBe("\n");
});

test("if it cannot be stored, the variable to set is named", async () => {
  await writeFile(path.join(directory, "file"), "");
  const dataDir = path.join(directory, "file", "below");
  await expect(resolveSecret({ secret: null, dataDir })).rejects.toThrow(
    /^SVC_SECRET is not set and cannot be kept in .*ENOTDIR/,
  );
  // Linux has the directory, but answers ENOENT to whoever makes one there.
  await expect(resolveSecret({ secret: null, dataDir: "/proc/svc/data" })).rejects.toThrow(
    /^SVC_SECRET is not set and cannot be kept in \/proc\/svc\/data\/secret \(E[A-Z]+\); set it/,
  );
});
