import { afterAll, beforeAll, expect, it } from "vitest";
import { authenticateKey } from "../../src/db/api/ingestion.js";
import { hashCredential } from "../../src/http/request/credentials.js";
import { atOnce, LargeBodies } from "../../src/http/request/large-bodies.js";
import { QueueFullError } from "../../src/http/errors.js";
import { startIngest, type IngestFixture } from "./ingest/fixture.js";

let fixture: IngestFixture;
beforeAll(async () => {
  fixture = await startIngest();
});
afterAll(() => fixture.service.stop());

it("an organization has so many large bodies at once, by whatever keys they come, and the others have theirs", async () => {
  const bodies = new LargeBodies();
  const batch = JSON.stringify({ events: [{ customerId: "globex", event: "login" }] });
  const read = (organizationId: string) => bodies.run(organizationId, "checkBatch", batch, (pieces) => pieces);
  const keys = await Promise.all(
    [fixture.keys.test, fixture.keys.live].map((key) => authenticateKey(fixture.service.db.sql, hashCredential(key))),
  );
  const own = Array.from({ length: 10 }, (_, n) => read(keys[n % 2]!.organizationId));
  const other = read("org_other");
  const outcomes = await Promise.allSettled(own);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(9);
  expect(outcomes[9]).toMatchObject({ reason: expect.any(QueueFullError) as unknown });
  expect(Buffer.concat(await other).toString()).toBe(batch);
});

const readAtOnce = (text: string) => atOnce(text, () => undefined);

it.each([
  [
    "a thousand events of ten values",
    `[${Array<string>(1_000)
      .fill(`{${'"a":1.5,'.repeat(9)}"b":"1e5"}`)
      .join(",")}]`,
    true,
  ],
  ["5,000 numbers with exponents", `[${"1.5e1,".repeat(4_999)}1.5e1]`, true],
  ["more of them", `[${"1.5e1,".repeat(5_000)}1.5e1]`, false],
  ["more that are longer than a double shows", `[${`0.${"1".repeat(30)},`.repeat(5_000)}0.${"1".repeat(30)}]`, false],
  ["more values of any kind than an ordinary batch", `[${"1,".repeat(50_000)}1]`, false],
])("whether others can wait for a body to be read: %s", (_, text, read) => {
  expect(readAtOnce(text)).toBe(read);
});
