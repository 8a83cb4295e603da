import { readFileSync } from "node:fs";

/** The version of this program, which is that of the service it came with. */
export function version(): string {
  const file = new URL("../../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
