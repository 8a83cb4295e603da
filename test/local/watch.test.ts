import { once } from "node:events";
import { watch } from "node:fs";
import { appendFile, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { SourceWatch } from "../../src/local/watch.js";
import { temporaryDirectory } from "../support/server.js";

/** Watches a folder; the function waits until a change was reported since its last call. */
async function watching(directory: string): Promise<() => Promise<void>> {
  let changes = 0;
  let seen = 0;
  const failed = (error: Error) => expect.unreachable(error.message);
  const watching = await SourceWatch.start(directory, () => changes++, failed);
  onTestFinished(() => watching.close());
  return async () => {
    await expect.poll(() => changes, { timeout: 10_000 }).toBeGreaterThan(seen);
    seen = changes;
  };
}

test("changes in a folder that was removed and made again are noticed", async () => {
  const directory = await temporaryDirectory();
  const folder = path.join(directory, "model");
  await mkdir(folder);
  await writeFile(path.join(folder, "a.ts"), "1");
  const changed = await watching(directory);
  await rm(folder, { recursive: true });
  await mkdir(folder);
  await writeFile(path.join(folder, "a.ts"), "22");
  await changed();
  await writeFile(path.join(folder, "a.ts"), "333");
  await changed();
});

test("changes in a watched folder that was itself removed with the one above it, and made again, are noticed", async () => {
  const above = path.join(await temporaryDirectory(), "above");
  const directory = path.join(above, "project");
  const make = async (text: string) => {
    await mkdir(directory, { recursive: true });
    await writeFile(path.join(directory, "a.ts"), text);
  };
  await make("1");
  const changed = await watching(directory);
  await rm(above, { recursive: true });
  await changed();
  await make("22");
  await changed();
  await writeFile(path.join(directory, "a.ts"), "333");
  await changed();
});

test("changes are noticed also while another file in the folder is written all the time", async () => {
  const directory = await temporaryDirectory();
  await writeFile(path.join(directory, "a.ts"), "1");
  const changed = await watching(directory);
  const logged = watch(directory);
  onTestFinished(() => logged.close());
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  await writeFile(path.join(directory, "a.ts"), "22");
  for (let n = 0; n < 50; n++) {
    const written = once(logged, "change");
    await appendFile(path.join(directory, "service.log"), "a line\n");
    await written;
    vi.advanceTimersByTime(40);
  }
  vi.useRealTimers();
  await changed();
});

test("changes behind links to folders and files are noticed, and links to folders above end nowhere", async () => {
  const shared = await temporaryDirectory();
  const directory = await temporaryDirectory();
  await mkdir(path.join(shared, "model"));
  await writeFile(path.join(shared, "model", "a.ts"), "1");
  await writeFile(path.join(shared, "b.ts"), "1");
  await symlink(path.join(shared, "model"), path.join(directory, "model"));
  await symlink(path.join(shared, "b.ts"), path.join(directory, "b.ts"));
  await symlink(directory, path.join(directory, "round"));
  const changed = await watching(directory);
  await writeFile(path.join(shared, "model", "a.ts"), "22");
  await changed();
  await writeFile(path.join(shared, "b.ts"), "22");
  await changed();
});
