import { expect, it } from "vitest";
import { inChunks } from "../../src/tasks/recompute/chunks.js";

const idOf = (n: number) => `c${String(n).padStart(6, "0")}`;

/** Customers of `length` characters each, and a record of the requests for them. */
function customers(count: number, length: number) {
  const asked: { after: string | null; customers: number }[] = [];
  const read = (after: string | null, number: number): Promise<string[]> => {
    asked.push({ after, customers: number });
    const from = after === null ? 0 : Number(after.slice(1)) + 1;
    const texts = Array.from({ length: Math.max(0, Math.min(number, count - from)) }, (_, i) => {
      const text = JSON.stringify({ customerId: idOf(from + i), filling: "" });
      return text.replace('""', `"${"x".repeat(Math.max(0, length - text.length))}"`);
    });
    return Promise.resolve(texts);
  };
  return { asked, read };
}

async function idsOf(chunks: AsyncGenerator<string[]>): Promise<string[]> {
  const ids: string[] = [];
  for await (const chunk of chunks)
    ids.push(...chunk.map((text) => (JSON.parse(text) as { customerId: string }).customerId));
  return ids;
}

it("yields each customer once, in order, after the last one of the former attempt", async () => {
  const { read } = customers(1_234, 100);
  expect(await idsOf(inChunks(null, read))).toEqual(Array.from({ length: 1_234 }, (_, n) => idOf(n)));
  expect(await idsOf(inChunks(idOf(1_200), read))).toEqual(Array.from({ length: 33 }, (_, n) => idOf(1_201 + n)));
  expect(await idsOf(inChunks(idOf(1_233), read))).toEqual([]);
});

it.each([
  ["up to a few hundred small customers", 100, [10, 20, 40, 80, 160, 320, 500, 500]],
  ["about a mebibyte of customers", 10_000, [10, 20, 40, 80, 105, 105]],
  ["one customer, if it is that large by itself", 2_000_000, [10, 1, 1, 1]],
])("doubles the size of requests: %s", async (_, length, numbers) => {
  const { asked, read } = customers(length > 1_000_000 ? 20 : 5_000, length);
  await idsOf(inChunks(null, read));
  expect(asked.slice(0, numbers.length).map((request) => request.customers)).toEqual(numbers);
});

it("reads two chunks ahead, one after the other, and reports a failure to the consumer that reaches it", async () => {
  const { asked, read } = customers(100, 100);
  const chunks = inChunks(null, (after, number) =>
    after === idOf(29) ? Promise.reject(new Error("gone")) : read(after, number),
  );
  expect((await chunks.next()).value).toHaveLength(10);
  expect(asked.map(({ after }) => after)).toEqual([null, idOf(9)]);
  expect((await chunks.next()).value).toHaveLength(20);
  await expect(chunks.next()).rejects.toThrow("gone");
});
