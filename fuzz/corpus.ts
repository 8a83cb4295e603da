/** Texts from a given corpus. */
import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { DemoFailure, messageOf } from "../src/demo/failure.js";

/** Files of which each line is a text. */
const OF_LINES = /\.(?:jsonl|ndjson|txt)$/;
const NEWLINE = 0x0a;

/** The texts of the files, and of all files below the folders. Throws a DemoFailure with exit code 2 for what cannot be read. */
export async function readCorpus(names: readonly string[]): Promise<Buffer[]> {
  const texts: Buffer[] = [];
  try {
    for (const name of names)
      for (const file of await filesOf(name)) texts.push(...textsOf(file, await readFile(file)));
  } catch (error) {
    throw new DemoFailure(`--corpus: ${messageOf(error)}`, 2);
  }
  return texts;
}

async function filesOf(name: string): Promise<string[]> {
  if (!(await stat(name)).isDirectory()) return [name];
  const entries = await readdir(name, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

function textsOf(file: string, bytes: Buffer): Buffer[] {
  if (!OF_LINES.test(file)) return [bytes];
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    if (end > start) lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}
