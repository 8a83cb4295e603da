import { expect, it } from "vitest";
import { type ListPart, readOn } from "../../src/console/read-on.js";

/** A list of which each page finds a number of items, the last page included; with the parts that were asked for. */
function listOf(counts: readonly number[]) {
  const asked: ListPart[] = [];
  const page = (part: ListPart) => {
    asked.push(part);
    const at = Number(part.cursor ?? 0);
    const data = Array.from({ length: Math.min(counts[at]!, Number(part.limit)) }, () => at);
    return Promise.resolve({ data, nextCursor: at + 1 < counts.length ? String(at + 1) : null });
  };
  return { asked, page };
}

it("reads on until there is enough, and asks only for what is missing", async () => {
  const { asked, page } = listOf([0, 3, 0, 9, 9]);
  expect(await readOn(page, { limit: 5 })).toEqual({ data: [1, 1, 1, 3, 3], nextCursor: "4" });
  expect(asked.map(({ limit }) => limit)).toEqual(["5", "5", "2", "2"]);
  expect(await readOn(page, { limit: 5, enough: 1 })).toEqual({ data: [1, 1, 1], nextCursor: "2" });
  expect(await readOn(page, { limit: 5, enough: 1, cursor: "2" })).toEqual({ data: [3, 3, 3, 3, 3], nextCursor: "4" });
});

it("ends with the list, or after ten pages", async () => {
  expect(await readOn(listOf([1, 0]).page, { limit: 5 })).toEqual({ data: [0], nextCursor: null });
  expect(await readOn(listOf(Array<number>(12).fill(0)).page, { limit: 5 })).toEqual({ data: [], nextCursor: "10" });
});
