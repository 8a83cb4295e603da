import { expect, it } from "vitest";
import { Models } from "../../src/evaluation/models.js";
import { canonicalJson } from "../../src/model/snapshot/canonical.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";

const snapshotWith = (name: string): Snapshot => ({ ...EMPTY_SNAPSHOT, segments: [{ id: name }] });
const bytes = canonicalJson(snapshotWith("a")).length;

/** A cache that records which models it loads. */
function cache(limits: { models: number; bytes: number }) {
  const models = new Models(limits);
  const loaded: string[] = [];
  const ask = (name: string) =>
    models.of(name, name, () => {
      loaded.push(name);
      return Promise.resolve(snapshotWith(name));
    });
  return { models, loaded, ask };
}

it("keeps compiled models up to a limit in bytes of snapshots", async () => {
  const { models, loaded, ask } = cache({ models: 100, bytes: 3 * bytes });
  for (const name of ["a", "b", "c", "d", "e"]) await ask(name);
  expect(models.size).toBe(3);
  await ask("e");
  expect(loaded).toEqual(["a", "b", "c", "d", "e"]);
});

it("keeps the most recently used models", async () => {
  const { loaded, ask } = cache({ models: 2, bytes: Infinity });
  for (const name of ["a", "b", "a", "c", "a", "b"]) await ask(name);
  expect(loaded).toEqual(["a", "b", "c", "b"]);
});

it("keeps a model that alone exceeds the limit, since it is in use", async () => {
  const { models, loaded, ask } = cache({ models: 100, bytes: 10 });
  await ask("a");
  await ask("a");
  expect({ size: models.size, loaded }).toEqual({ size: 1, loaded: ["a"] });
});

it("counts a model once if two callers request it at the same time", async () => {
  const { models, ask } = cache({ models: 100, bytes: 2 * bytes });
  await Promise.all([ask("a"), ask("a")]);
  await ask("b");
  expect(models.size).toBe(2);
});
