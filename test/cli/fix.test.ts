import { chmod, lstat, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";

import { replaceUnchanged } from "../../src/cli/output/write-file.js";
import { project } from "../dsl-compiler/project.js";
import { svc } from "./support/run-svc.js";

const MISTAKEN = `import { defineModel, event, number, traits } from "svc-success";
import { large } from "./segments.js";
const paid = event("paid", { amount: number() });
const account = traits({ seats: number() });
export default defineModel({
  events: [paid],
  traits: account,
  segments: [large, segment("payers", { when: paid.hapened() && account.seats > 5 }), segment("Big", { when: paid.never() })],
});
`;
const SEGMENTS = `import { inactiveFor } from "svc-success";\nexport const large = segment("large", { when: !inactiveFor("3d") });\n`;

test("svc validate --fix corrects what is certain, says what and where, and reports the rest", async () => {
  const cwd = await project({ "svc.config.ts": MISTAKEN, "segments.ts": SEGMENTS });
  expect(await svc(["validate", "--fix"], { cwd })).toMatchInlineSnapshot(`
    exit 1
    ! fixed segments.ts:2:22 there is no "segment" in this file: add segment to the import of "svc-success"
    ! fixed segments.ts:2:47 "!" does not negate a condition: JavaScript computes it once, when the model is compiled: write not(inactiveFor("3d"))
    ! fixed svc.config.ts:8:21 there is no "segment" in this file: add segment to the import of "svc-success"
    ! fixed svc.config.ts:8:52 there is no "hapened" on an event: write "happened"
    ! fixed svc.config.ts:8:65 there is no ">" on a trait that is a number: write .moreThan(5)
    ! fixed segments.ts:2:47 there is no "not" in this file: add not to the import of "svc-success"
    ! fixed svc.config.ts:8:47 "&&" does not combine conditions: JavaScript computes it once, when the model is compiled: write all(paid.happened(), account.seats.moreThan(5))
    ! fixed svc.config.ts:8:47 there is no "all" in this file: add all to the import of "svc-success"
    ! error INVALID_NAME "Big" is not a valid name: it needs 1 to 256 lower-case letters, digits and underscores, beginning with a letter
    !   svc.config.ts:8:107
    !   8 | …eats.moreThan(5)) }), segment("Big", { when: paid.never() })],
    !     |                                ^^^^^
    !   fix: choose another name
    !
    ! error [CONFIG_INVALID]: The model has 1 error.
  `);
  const corrected = await readFile(path.join(cwd, "svc.config.ts"), "utf8");
  expect(corrected).toContain("when: all(paid.happened(), account.seats.moreThan(5)) }");
  expect(corrected).toMatch(/^import \{ defineModel, event, number, traits, segment, all \} from "svc-success";\n/);
  expect(await readFile(path.join(cwd, "segments.ts"), "utf8")).toBe(
    `import { inactiveFor, segment, not } from "svc-success";\nexport const large = segment("large", { when: not(inactiveFor("3d")) });\n`,
  );
  expect((await readdir(cwd)).toSorted()).toEqual(["segments.ts", "svc.config.ts"]);

  // The second run finds nothing to correct.
  const { code, stdout } = await svc(["validate", "--fix", "--json"], { cwd });
  const { error } = JSON.parse(stdout) as { error: object };
  expect({ code, error }).toMatchObject({ code: 1, error: { fixed: [], problems: [{ code: "INVALID_NAME" }] } });
  expect(await readFile(path.join(cwd, "svc.config.ts"), "utf8")).toBe(corrected);
});

test("svc validate without --fix writes nothing and says what it would correct", async () => {
  const source = MISTAKEN.replace('"Big"', '"big"');
  const cwd = await project({ "svc.config.ts": source, "segments.ts": SEGMENTS });
  const { code, stderr } = await svc(["validate"], { cwd });
  expect(code).toBe(1);
  expect(stderr).toMatch(/The model has 5 errors\. Run svc validate --fix, which corrects 5 of them\.\n$/);
  expect(await readFile(path.join(cwd, "svc.config.ts"), "utf8")).toBe(source);
});

test("with --json the corrections are in the document, and the model is then valid", async () => {
  const cwd = await project({ "svc.config.ts": MISTAKEN.replace('"Big"', '"big"'), "segments.ts": SEGMENTS });
  const { code, stdout, stderr } = await svc(["validate", "--fix", "--strict", "--json"], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { valid, fixed } = JSON.parse(stdout) as { valid: boolean; fixed: { file: string }[] };
  expect(valid).toBe(true);
  expect(fixed).toContainEqual({
    file: "segments.ts",
    line: 2,
    column: 22,
    code: "TYPE_ERROR",
    message: 'there is no "segment" in this file',
    fix: 'add segment to the import of "svc-success"',
  });
});

test("a file is replaced atomically through its link, keeps mode and byte-order mark, and only if it is unchanged since it was read", async () => {
  const cwd = await project({ "real.ts": "\uFEFFone", "other.ts": "two" });
  const [real, link] = [path.join(cwd, "real.ts"), path.join(cwd, "link.ts")];
  await chmod(real, 0o640);
  await symlink(real, link);
  expect(await replaceUnchanged(link, "one", "three")).toBe(true);
  expect(await readFile(real, "utf8")).toBe("\uFEFFthree");
  expect((await stat(real)).mode & 0o777).toBe(0o640);
  expect((await lstat(link)).isSymbolicLink()).toBe(true);

  await writeFile(real, "four");
  expect(await replaceUnchanged(real, "three", "five")).toBe(false);
  expect(await readFile(real, "utf8")).toBe("four");
  expect((await readdir(cwd)).toSorted()).toEqual(["link.ts", "other.ts", "real.ts"]);
});

test("a file that cannot be written stays unchanged, and the error says so", async () => {
  // The temporary file next to it has a longer name, which exceeds the limit of file systems.
  const name = `${"s".repeat(247)}.ts`;
  const config = MISTAKEN.replace("./segments.js", `./${name}`).replace("paid.hapened() &&", "");
  const cwd = await project({ "svc.config.ts": config, [name]: SEGMENTS });
  const { code, stderr } = await svc(["validate", "--fix"], { cwd });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /s\.ts could not be written \(ENAMETOOLONG\); it is unchanged\. Make room, or make it and its folder writable for you\.\n$/,
  );
  expect(await readFile(path.join(cwd, name), "utf8")).toBe(SEGMENTS);
});
