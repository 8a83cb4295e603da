import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { format } from "oxfmt";
import * as ecommerce from "../../../examples/ecommerce/stories.js";
import * as marketplace from "../../../examples/marketplace/stories.js";
import * as saas from "../../../examples/saas/stories.js";
import { dataOf, type Story } from "../../../examples/tools/story.js";
import type { Expected } from "./expected.js";

/** An example: its directory, and the customers in its data. */
export interface Example {
  name: string;
  directory: string;
  stories: readonly Story[];
  /** The instant at which the customers are looked at, ISO 8601. */
  end: string;
}

export const EXAMPLES: readonly Example[] = Object.entries({ saas, ecommerce, marketplace }).map(([name, story]) => ({
  name,
  directory: path.resolve(import.meta.dirname, "../../../examples", name),
  ...story,
}));

/** The data file of an example. */
export function readData({ directory }: Example): Promise<string> {
  return readFile(path.join(directory, "data.jsonl"), "utf8");
}

export async function readExpected({ directory }: Example): Promise<Expected> {
  return JSON.parse(await readFile(path.join(directory, "expected.json"), "utf8")) as Expected;
}

export function writeData({ directory, stories }: Example): Promise<void> {
  return writeFile(path.join(directory, "data.jsonl"), dataOf(stories));
}

export async function writeExpected({ directory }: Example, expected: Expected): Promise<void> {
  const { code } = await format("expected.json", JSON.stringify(expected), { printWidth: 120 });
  await writeFile(path.join(directory, "expected.json"), code);
}
