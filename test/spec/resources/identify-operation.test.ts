import { describe, expect, it } from "vitest";
import { addTo, healthOf, rule, snapshotOf, trait } from "../../engine/support/builders.js";
import { expectBatchTaken } from "../support/answers.js";
import { documentOf, DOCUMENT_BYTES, nameOf, useSpec } from "../support/fixture.js";
import {
  empty,
  notOfIdentify,
  notOfTrack,
  required,
  tooLarge,
  tooLong,
  wrongType,
  wrongTypeOfOperation,
} from "../support/refusals.js";

// Section "Identify operation (batch element only)".

const fixture = useSpec();

const valid = { type: "identify", customerId: "c", traits: {} };
const send = (...operations: unknown[]) => fixture.batch(operations);

/** The traits of a customer after an identify was accepted and evaluated. */
async function traitsAfter(...operations: { customerId: string; traits: object }[]): Promise<unknown> {
  expectBatchTaken(await send(...operations), operations.length, 0);
  await fixture.evaluate();
  return (await fixture.customer(operations[0]!.customerId)).traits;
}

describe("| `type` | string, only `identify` | yes | selects a trait update |", () => {
  it("identify is a trait update", async () => {
    const before = await fixture.stored();
    expectBatchTaken(await send(valid), 1, 0);
    expect(await fixture.stored()).toMatchObject({
      events: before.events,
      traitUpdates: before.traitUpdates + 1,
    });
  });

  it("left out, the operation is a track operation, which has no traits", async () => {
    const { type: _, ...rest } = valid;
    await fixture.refuses(() => send({ ...rest, event: "e" }), 400, notOfTrack("events[0].traits"));
  });

  it.each(["Identify", "traits", null, 5])("%j is refused", async (type) => {
    await fixture.refuses(() => send({ ...valid, type }), 400, wrongTypeOfOperation("events[0].type", type));
  });
});

describe("| `customerId` | string | yes | max 256 characters |, | `customerId` length | 256 characters | identify |", () => {
  const field = "events[0].customerId";

  it("is required", async () => {
    await fixture.refuses(() => send({ type: "identify", traits: {} }), 400, required(field));
  });

  it.each([5, null])("is a string: %j is refused", async (customerId) => {
    await fixture.refuses(() => send({ ...valid, customerId }), 400, wrongType(field, "a string", customerId));
  });

  it("empty is refused", async () => {
    await fixture.refuses(() => send({ ...valid, customerId: "" }), 400, empty(field));
  });

  it("of 256 characters is accepted and reads back", async () => {
    const operation = { ...valid, customerId: nameOf(256), traits: { seen: true } };
    expect(await traitsAfter(operation)).toEqual({ seen: true });
  });

  it("of 257 characters is refused", async () => {
    await fixture.refuses(() => send({ ...valid, customerId: nameOf(257) }), 400, tooLong(field));
  });
});

describe("| `traits` | JSON object | yes | max 64 KiB serialized |, | `traits` size | 64 KiB serialized | identify |", () => {
  const field = "events[0].traits";

  it("is required", async () => {
    await fixture.refuses(() => send({ type: "identify", customerId: "c" }), 400, required(field));
  });

  it.each(["pro", 5, null, [], true])("is an object: %j is refused", async (traits) => {
    await fixture.refuses(() => send({ ...valid, traits }), 400, wrongType(field, "an object", traits));
  });

  it("of 64 KiB is accepted and reads back", async () => {
    const traits = documentOf(DOCUMENT_BYTES);
    expect(await traitsAfter({ ...valid, customerId: "large", traits })).toEqual(traits);
  });

  it("of 64 KiB and one byte is refused", async () => {
    await fixture.refuses(() => send({ ...valid, traits: documentOf(DOCUMENT_BYTES + 1) }), 400, tooLarge(field));
  });
});

describe("Only `customerId` and `traits` are processed. Track fields must not be included.", () => {
  it.each([
    ["event", "e"],
    ["properties", {}],
    ["idempotencyKey", "k"],
  ])("%s is refused", async (field, value) => {
    await fixture.refuses(() => send({ ...valid, [field]: value }), 400, notOfIdentify(`events[0].${field}`));
  });
});

it("An identify carries no timestamp.", async () => {
  const operation = { ...valid, timestamp: "2026-03-02T10:00:00Z" };
  await fixture.refuses(() => send(operation), 400, notOfIdentify("events[0].timestamp"));
});

it("Traits are current-state mutations: the later value of a trait is the one that counts.", async () => {
  const identify = (traits: object) => ({ type: "identify", customerId: "mutated", traits });
  expect(await traitsAfter(identify({ plan: "free", seats: 1 }))).toEqual({ plan: "free", seats: 1 });
  expect(await traitsAfter(identify({ plan: "trial" }), identify({ plan: "pro" }))).toEqual({ plan: "pro", seats: 1 });
});

it("Identify operations create no product-event IDs.", async () => {
  const track = { customerId: "c", event: "e" };
  const reply = await send(valid, track, valid);
  expectBatchTaken(reply, 3, 1);
  const rows = await fixture.service.db.sql`
    select event from svc_inspect.events where event_id = ${(reply.body as { eventIds: [string] }).eventIds[0]}`;
  expect(rows.map(({ event }) => event)).toEqual(["e"]);
});

it("Traits feed lifecycle, rules, segments and health.", async () => {
  const isPro = trait("plan", "eq", "pro");
  await fixture.deploy(
    snapshotOf({
      traits: { plan: { type: "string" } },
      states: { new: [["activated", isPro]], activated: [] },
      segments: { payers: isPro, upsold: null },
      rules: { upsell: rule({ kind: "traitsChanged" }, addTo("upsold"), { when: isPro }) },
      health: healthOf({ plan: { kind: "map", trait: "plan", values: { pro: 80 } } }, { all: 0 }),
    }),
  );
  await traitsAfter({ ...valid, customerId: "fed", traits: { plan: "pro" } });
  expect(await fixture.customer("fed")).toMatchObject({
    lifecycle: "activated",
    segments: ["payers", "upsold"],
    health: { overall: 80, components: { plan: 80 }, band: "all" },
  });
});
