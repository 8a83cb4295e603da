import { rm } from "node:fs/promises";
import { afterAll } from "vitest";
import { temporaryDirectory } from "./server.js";

/** As `temporaryDirectory`; removed at the end of the file's tests. */
export async function useDirectory(): Promise<string> {
  const directory = await temporaryDirectory();
  afterAll(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
