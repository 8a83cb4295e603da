import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";
import { expectBatchTaken, expectTaken } from "./support/answers.js";
import { startSpec, type SpecFixture } from "./support/fixture.js";
import { happened } from "./support/models.js";
import { NOT_FOUND } from "./support/refusals.js";

// Section "Versioning".

let fixture: SpecFixture;
beforeAll(async () => {
  fixture = await startSpec();
});
afterAll(() => fixture.service.stop());

const event = { customerId: "c", event: "e" };

describe("1. Public ingestion paths carry the `/v1` prefix; the unversioned path does not exist.", () => {
  it("the prefix", async () => {
    expectTaken(await fixture.post("/v1/events", event));
    expectBatchTaken(await fixture.post("/v1/events/batch", { events: [event] }), 1);
  });

  it.each(["/events", "/events/batch", "/v2/events", "/V1/events", "/v1/events/", "/v1/v1/events"])(
    "%s does not exist",
    async (path) => {
      await fixture.refuses(() => fixture.post(path, event), 404, NOT_FOUND);
    },
  );
});

describe("2. Configuration is deployed as immutable versions (identifiers look like `v1`, `v2`).", () => {
  const model = (times: number): Partial<Snapshot> => ({
    events: { e: { properties: {} } },
    segments: [{ id: "keen", when: happened("e", times) }],
  });
  const deploy = async (changes: Partial<Snapshot>) => {
    const body = { snapshot: { ...EMPTY_SNAPSHOT, ...changes } };
    return (await fixture.admin("POST", "/projects/app/config-versions", { body })).body as Record<string, unknown>;
  };
  const versions = async () => {
    const { body } = await fixture.admin("GET", "/projects/app/config-versions");
    return (body as { data: { version: string; hash: string; active: string[] }[] }).data;
  };

  it("a deploy makes the next version, and leaves the earlier ones as they were", async () => {
    const first = await deploy(model(1));
    const [v1] = await versions();
    const second = await deploy(model(2));
    expect([first["version"], second["version"]]).toEqual(["v1", "v2"]);
    expect(await versions()).toMatchObject([
      { version: "v2", hash: second["hash"], active: ["test"] },
      { ...v1, active: [] },
    ]);
  });

  it("the same model as the active one makes none", async () => {
    expect(await deploy(model(2))).toMatchObject({ version: "v2", created: false });
    expect(await versions()).toHaveLength(2);
  });
});
