import { readFileSync } from "node:fs";

/** The version of the program, from its package.json. */
export const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};
