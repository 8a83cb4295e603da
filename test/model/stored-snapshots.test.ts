// A worker validates a stored version before it evaluates anything under it, so a check that is added later must not refuse what an earlier
// release accepted. The stored ones were valid when their file was written.
// After a form was added to the model: STORED=write npx vitest run test/model/stored-snapshots.test.ts, which adds a file for the day.
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, it } from "vitest";
import { compileProject } from "../../src/dsl-compiler/index.js";
import { canonicalJson } from "../../src/model/snapshot/canonical.js";
import { parseSnapshot } from "../../src/model/validate/validate.js";
import { snapshot } from "../engine/support/arbitrary.js";
import { EXAMPLES } from "../examples/support/examples.js";

const DIRECTORY = path.join(import.meta.dirname, "stored");

if (process.env["STORED"] === "write") {
  const examples = await Promise.all(EXAMPLES.map(({ directory }) => compileProject(directory)));
  const any = fc.sample(snapshot, 200).filter((it) => parseSnapshot(it).ok);
  const snapshots = [...examples.map((it) => it.ok && it.snapshot), ...any];
  const name = `${new Date().toISOString().slice(0, 10)}.json.gz`;
  await writeFile(path.join(DIRECTORY, name), gzipSync(`[${snapshots.map(canonicalJson).join(",\n")}]\n`));
}

it.each(await readdir(DIRECTORY))(
  "versions stored by an earlier release are still valid, as they are: %s",
  async (name) => {
    const snapshots = JSON.parse(gunzipSync(await readFile(path.join(DIRECTORY, name))).toString()) as unknown[];
    expect(snapshots.length).toBeGreaterThan(100);
    for (const stored of snapshots) {
      const parsed = parseSnapshot(stored);
      expect(parsed.ok ? [] : parsed.problems).toEqual([]);
      expect(parsed.ok && canonicalJson(parsed.snapshot)).toBe(canonicalJson(stored));
    }
  },
);
