import { writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { openDataFile } from "../../src/demo/input.js";
import { useDirectory } from "../support/directory.js";

const directory = await useDirectory();

async function fileOf(content: string | Buffer): Promise<string> {
  const file = path.join(directory, "data.jsonl");
  await writeFile(file, content);
  return file;
}

const GOOD = '{"customerId":"0001","event":"purchase","timestamp":"1997-01-01T00:00:00Z","idempotencyKey":"a"}';

describe("a data file", () => {
  test("is summarized before anything is sent", async () => {
    const lines = [
      GOOD,
      '{"type":"track","customerId":"2","event":"purchase","timestamp":"1997-01-18T00:00:00+01:00","idempotencyKey":"b"}',
      '{"type":"identify","customerId":"2","traits":{"plan":"pro"}}',
      GOOD,
      '{"customerId":"3","event":"purchase"}',
    ];
    expect(await openDataFile(await fileOf(lines.join("\n")))).toMatchObject({
      operations: 5,
      events: 4,
      distinctEvents: 3,
      customers: 3,
      span: { first: Date.UTC(1997, 0, 1), last: Date.UTC(1997, 0, 17, 23) },
    });
  });

  test("gives events without a key one derived from their line", async () => {
    const { read } = await openDataFile(
      await fileOf(`\n  \n{"customerId":"1","event":"e","properties":{"n":1.5}}\r\n`),
    );
    const event = { type: "track", customerId: "1", event: "e", properties: { n: 1.5 }, idempotencyKey: "demo-line-3" };
    for await (const operation of read()) expect(operation).toEqual(event);
  });

  test("is read line by line across chunks", async () => {
    const lines = Array.from(
      { length: 3_000 },
      (_, index) => `{"customerId":"ü${index}","event":"${"e".repeat(index % 250)}x"}`,
    );
    const { read } = await openDataFile(await fileOf(lines.join("\n")));
    const customers: string[] = [];
    for await (const { customerId } of read()) customers.push(customerId);
    expect(customers).toEqual(lines.map((_, index) => `ü${index}`));
  });

  test.each([
    ["{", /:2: is not JSON: /],
    ["[]", /:2: the operation must be an object, not an array$/],
    // What an operation must have is the client's rule, which test/client/rules.test.ts tests.
    ['{"event":"e"}', /:2: customerId must be a string, not undefined$/],
    ['{"customerId":"1","event":"e","properties":{"n":1e400}}', /:2: properties.n is Infinity/],
  ])("is refused with the number of a line that is no operation: %s", async (line, message) => {
    const opened = openDataFile(await fileOf(`${GOOD}\n${line}\n${GOOD}\n`));
    await expect(opened).rejects.toThrow(message);
    await expect(opened).rejects.toMatchObject({ name: "DemoFailure", exitCode: 2 });
  });

  test("is refused with the number of a line that is not UTF-8", async () => {
    const bytes = Buffer.concat([Buffer.from(`${GOOD}\n{"customerId":"`), Buffer.from([0xff]), Buffer.from('"}\n')]);
    await expect(openDataFile(await fileOf(bytes))).rejects.toThrow(/:2: is not JSON: it is not valid UTF-8$/);
  });

  test("is decompressed while it is read, and refused if its end is missing", async () => {
    const file = path.join(directory, "data.jsonl.gz");
    const packed = gzipSync(`${GOOD}\n${GOOD.replace("0001", "ü")}\n`);
    await writeFile(file, packed);
    expect(await openDataFile(file)).toMatchObject({ title: "data.jsonl.gz", operations: 2, customers: 2 });
    await writeFile(file, packed.subarray(0, -12));
    await expect(openDataFile(file)).rejects.toThrow(/cannot read .*unexpected end of file/);
  });

  test("is refused where it is empty, missing, or one endless line", async () => {
    await expect(openDataFile(await fileOf("\n\n"))).rejects.toThrow(/contains no operations/);
    await expect(openDataFile(path.join(directory, "missing.jsonl"))).rejects.toThrow(/cannot read .*ENOENT/);
    await expect(openDataFile(directory)).rejects.toThrow(/cannot read .*EISDIR/);
    await expect(openDataFile(await fileOf(`{"customerId":"${"x".repeat(1_200_000)}`))).rejects.toThrow(
      /:1: the line is longer/,
    );
  });
});
