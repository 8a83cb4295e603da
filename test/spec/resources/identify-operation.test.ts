import { describe, expect, it } from "vitest";
import { addTo, healthOf, rule, snapshotOf, trait } from "../../engine/support/builders.js";
import { expectBatchTaken, type Refusal } from "../support/answers.js";
import { documentOf, DOCUMENT_BYTES, nameOf, useSpec } from "../support/fixture.js";
import * as refusals from "../support/refusals.js";

// Section "Identify operation (batch element only)".

const fixture = useSpec();

const valid = { type: "identify", customerId: "c", traits: {} };
const send = (...operations: unknown[]) => fixture.batch(operations);

type Refused = [field: string, value: unknown, refusal: (field: string, value: never) => Refusal];

const refuses = (cases: Refused[]) =>
  it.each(cases)("%s %j is refused", async (field, value, refusal) => {
    const expected = refusal(`events[0].${field}`, value as never);
    await fixture.refuses(() => send({ ...valid, [field]: value }), 400, expected);
  });

const wrongType = (type: string) => (field: string, value: unknown) => refusals.wrongType(field, type, value);

/** The customer's traits after an identify was accepted and evaluated. */
async function traitsAfter(...operations: { customerId: string; traits: object }[]): Promise<unknown> {
  expectBatchTaken(await send(...operations), operations.length, 0);
  await fixture.evaluate();
  return (await fixture.customer(operations[0]!.customerId)).traits;
}

describe("| `type` | string, only `identify` | yes | selects a trait update |", () => {
  it("identify is a trait update", async () => {
    const before = await fixture.stored();
    expectBatchTaken(await send(valid), 1, 0);
    const { events, traitUpdates } = await fixture.stored();
    expect({ events, traitUpdates }).toEqual({ events: before.events, traitUpdates: before.traitUpdates + 1 });
  });

  it("without it, the operation is a track operation, which has no traits", async () => {
    const operation = { customerId: "c", traits: {}, event: "e" };
    await fixture.refuses(() => send(operation), 400, refusals.notOfTrack("events[0].traits"));
  });

  refuses(["Identify", "traits", null, 5].map((type) => ["type", type, refusals.wrongTypeOfOperation]));
});

describe("| `customerId` | string | yes | max 256 characters |, | `customerId` length | 256 characters | identify |", () => {
  refuses([
    ["customerId", undefined, refusals.required],
    ["customerId", 5, wrongType("a string")],
    ["customerId", null, wrongType("a string")],
    ["customerId", "", refusals.empty],
  ]);

  it("of 256 characters is accepted and reads back, and one more refused", async () => {
    const operation = { ...valid, customerId: nameOf(256), traits: { seen: true } };
    expect(await traitsAfter(operation)).toEqual({ seen: true });
    const longer = { ...valid, customerId: nameOf(257) };
    await fixture.refuses(() => send(longer), 400, refusals.tooLong("events[0].customerId"));
  });
});

describe("| `traits` | JSON object | yes | max 64 KiB serialized |, | `traits` size | 64 KiB serialized | identify |", () => {
  refuses([
    ["traits", undefined, refusals.required],
    ...["pro", 5, null, [], true].map((value): Refused => ["traits", value, wrongType("an object")]),
  ]);

  it("of 64 KiB is accepted and reads back, and one more byte refused", async () => {
    const traits = documentOf(DOCUMENT_BYTES);
    expect(await traitsAfter({ ...valid, customerId: "large", traits })).toEqual(traits);
    const larger = { ...valid, traits: documentOf(DOCUMENT_BYTES + 1) };
    await fixture.refuses(() => send(larger), 400, refusals.tooLarge("events[0].traits"));
  });
});

describe("Only `customerId` and `traits` are processed. Track fields must not be included. An identify carries no timestamp.", () => {
  refuses([
    ["event", "e", refusals.notOfIdentify],
    ["properties", {}, refusals.notOfIdentify],
    ["idempotencyKey", "k", refusals.notOfIdentify],
    ["timestamp", "2026-03-02T10:00:00Z", refusals.notOfIdentify],
  ]);
});

it("Traits are current-state mutations: the later value of a trait is the one that counts.", async () => {
  const identify = (traits: object) => ({ type: "identify", customerId: "mutated", traits });
  expect(await traitsAfter(identify({ plan: "free", seats: 1 }))).toEqual({ plan: "free", seats: 1 });
  expect(await traitsAfter(identify({ plan: "trial" }), identify({ plan: "pro" }))).toEqual({ plan: "pro", seats: 1 });
});

it("Identify operations create no product-event IDs.", async () => {
  const reply = await send(valid, { customerId: "c", event: "e" }, valid);
  expectBatchTaken(reply, 3, 1);
  expect((await fixture.storedEvent(reply)).event).toBe("e");
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
