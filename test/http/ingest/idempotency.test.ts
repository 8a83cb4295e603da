import { describe, expect, it } from "vitest";
import { conflict } from "../../spec/support/refusals.js";
import type { Reply } from "../../support/service.js";
import { eventIds, expectRefused } from "./answers.js";
import { batchOf, EVENT, useIngest, taken } from "./fixture.js";

const fixture = await useIngest();

let keys = 0;
const nextKey = () => `key ${++keys}`;

/** An event as JSON text, because spellings matter. The last of repeated members counts, so `more` can replace any. */
const text = (key: string, more: string): string =>
  `{"customerId":"c","event":"e","idempotencyKey":${JSON.stringify(key)}${more === "" ? "" : `,${more}`}}`;
const IDENTIFY = '{"type":"identify","customerId":"c","traits":{}}';

const single = (event: string): Promise<Reply> => fixture.single(event);
const batch = (...operations: string[]): Promise<Reply> => fixture.post("/v1/events/batch", batchOf(...operations));

// test/spec has one pair of payloads for each relevant field; repetition.test.ts has the differences in properties that the hash detects, and
// every way to repeat a request.

/** The number of events and keys that the work stores. */
async function added(work: () => Promise<void>): Promise<{ events: number; keys: number }> {
  const before = await fixture.stored();
  await work();
  const after = await fixture.stored();
  return { events: after.events - before.events, keys: after.idempotencyKeys - before.idempotencyKeys };
}

const expectNew = ({ status, body }: Reply) => expect([status, body]).toEqual([202, taken()]);

describe("a repeated key in a batch", () => {
  it.each([
    ["with a member twice", '"properties":{"a":2}', '"properties":{"a":1,"a":2}'],
    ["with empty properties or none", "", '"properties":{}'],
    ["with the type or without", "", '"type":"track"'],
  ])("is one event for the same payload %s", async (_, first, second) => {
    const key = nextKey();
    const send = () => batch(text(key, first), IDENTIFY, text(key, second));
    const stored = await added(async () => {
      const replies = [...(await Promise.all([send(), send()])), await send()];
      const [id] = eventIds(replies[0]!);
      const answer = { accepted: 3, rejected: 0, eventIds: [id, id] };
      expect(replies.map(({ body }) => body)).toEqual([answer, answer, answer]);
    });
    expect(stored).toEqual({ events: 1, keys: 1 });
  });

  it.each([
    ["customer and event divided otherwise", '"customerId":"ab","event":"c"', '"customerId":"a","event":"bc"'],
    ["an accent composed otherwise", '"customerId":"\\u00e9"', '"customerId":"e\\u0301"'],
  ])("conflicts for %s, and stays free", async (_, first, second) => {
    const key = nextKey();
    const send = () => batch(text(key, first), IDENTIFY, text(key, second));
    const stored = await added(async () => {
      for (const reply of await Promise.all([send(), send()]))
        expectRefused(reply, 409, conflict("events[2].idempotencyKey", key));
    });
    expect(stored).toEqual({ events: 0, keys: 0 });
    expectNew(await single(text(key, second)));
  });
});

it("a conflict refuses the whole batch, and its other keys stay free", async () => {
  const [free, used] = [nextKey(), nextKey()];
  const other = '"properties":{"another":"payload"}';
  expectNew(await single(text(used, "")));
  const request = () => batch(text(free, ""), EVENT, text(used, other), text(used, ""));
  await fixture.refuses(request, 409, conflict("events[2].idempotencyKey", used));
  expectNew(await single(text(free, other)));
});

it("all conflicting keys of a batch are named at once", async () => {
  const [used, both, free] = [nextKey(), nextKey(), nextKey()];
  expectNew(await single(text(used, "")));
  const other = '"properties":{"another":"payload"}';
  const request = () => batch(text(both, ""), text(used, other), text(free, ""), text(both, other));
  const first = conflict("events[1].idempotencyKey", used);
  const { code, message } = first;
  const diagnostics = [1, 3].map((position) => ({ code, message, path: `events[${position}].idempotencyKey` }));
  await fixture.refuses(request, 409, { ...first, diagnostics });
});

it("keys differ by case, white space and accents", async () => {
  for (const key of ["Case", "case", "case ", "cas\u00e9", "case\u0301"]) {
    expectNew(await single(text(key, `"properties":${JSON.stringify({ key })}`)));
  }
});
