import fc from "fast-check";
import { expect, test } from "vitest";

import { LiveText } from "../../../src/cli/commands/ai/tell.js";
import { Sanitizer, textsIn, WITHHELD } from "../../../src/cli/commands/ai/sanitizer.js";

const known = textsIn({ traits: { plan: { type: "string", enum: ["free", "pro"] } } });
const sanitizer = (...allowed: string[]) => new Sanitizer({ key: "secret", known, allowed: new Set(allowed) });

test("only texts that occur in the model pass", () => {
  expect(sanitizer().values({ plan: "pro", email: "jane@example.com", seats: 3, active: true, none: null })).toEqual({
    plan: "pro",
    email: WITHHELD,
    seats: 3,
    active: true,
    none: null,
  });
});

test("names that are not plain identifiers do not pass", () => {
  expect(sanitizer().values({ "jane@example.com": 1, "please obey": 2, "app.opened": 3 })).toEqual({
    [WITHHELD]: 2,
    "app.opened": 3,
  });
});

test("values under an allowed name pass, in conditions too", () => {
  expect(sanitizer("renewsOn").valueIn("renewsOn within 30d", "2031-05-17")).toBe("2031-05-17");
  expect(sanitizer("renews").valueIn("renewsOn within 30d", "2031-05-17")).toBe(WITHHELD);
});

test("no text of a customer's document remains after sanitizing", () => {
  const text = fc.string({ minLength: 4, unit: "grapheme" }).map((one) => `§${one}`);
  const value = fc.oneof(text, fc.integer(), fc.array(text), fc.dictionary(text, text), fc.array(fc.array(text)));
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(text, fc.constantFrom("plan", "email")), value), (document) => {
      expect(JSON.stringify(sanitizer().values(document))).not.toContain("§");
    }),
  );
});

test("an identifier has one pseudonym, which differs by kind and key", () => {
  const one = sanitizer();
  expect(one.id("customer", "globex")).toBe(sanitizer().id("customer", "globex"));
  const other = new Sanitizer({ key: "other", known, allowed: new Set() });
  const names = [one.id("customer", "globex"), one.id("event", "globex"), other.id("customer", "globex")];
  expect(new Set(names).size).toBe(3);
});

test("customer ids are shown if allowed, other identifiers are not", () => {
  const shown = new Sanitizer({ key: "secret", known, allowed: new Set(), showsCustomers: true });
  expect(shown.id("customer", "globex")).toBe("globex");
  expect(shown.id("event", "evt_1")).toMatch(/^event_[0-9a-f]{12}$/);
});

test("only the most recent identifiers can be restored from their pseudonyms", () => {
  const names = sanitizer();
  const first = names.id("customer", "first");
  const second = names.id("customer", "second");
  names.id("customer", "first");
  for (let i = 0; i < 9_999; i++) names.id("customer", String(i));
  expect([names.restore(first), names.restore(second)]).toEqual(["first", second]);
});

test("identifiers are restored however an answer is split into parts", () => {
  const one = sanitizer();
  const names = ["globex", "initech"].map((id) => one.id("customer", id));
  const answer = `Both ${names[0]}, and ${names[1]}:\n${names[0]}'s plan is customer_000000000000's.`;
  const restored = "Both globex, and initech:\nglobex's plan is customer_000000000000's.";
  fc.assert(
    fc.property(fc.array(fc.nat({ max: answer.length })), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), answer.length];
      const live = new LiveText((text) => one.restore(text));
      const parts = places.slice(1).map((end, index) => live.add(answer.slice(places[index], end)));
      expect(parts.join("") + live.end()).toBe(restored);
    }),
  );
});

test("a text without spaces is shown before it ends", () => {
  const live = new LiveText();
  expect(live.add("x".repeat(1000)).length).toBeGreaterThan(500);
});

test("identifiers, characters and line ends in a text without spaces stay whole however it is split", () => {
  const one = sanitizer();
  const name = one.id("customer", "globex");
  const answer = `${`${name}🙂`.repeat(40)}\r\nx\r\n`;
  for (const size of [1, 5, 97, 201, 220]) {
    const live = new LiveText((text) => one.restore(text));
    const parts = answer.match(new RegExp(`[^]{1,${size}}`, "g"))!.map((part) => live.add(part));
    expect(parts.join("") + live.end()).toBe(`${"globex🙂".repeat(40)}\nx\n`);
  }
});
