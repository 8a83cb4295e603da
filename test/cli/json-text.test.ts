import { expect, test } from "vitest";

import { elementTexts, memberTexts, objectText } from "../../src/cli/output/json-text.js";

const DOCUMENTS = [
  "{}",
  ' { "a" : 1 , "b":[ ] } ',
  '{"a":"\\"}","b]":{"c":"\\\\"},"":[{"d":[]},"]"]}',
  '{"n":-12345678901234567890.10e+5,"t":true,"f":false,"z":null}',
  '{"\\u0061":"ä\\u2028"}',
];

test.each(DOCUMENTS)("members are cut out as they are written: %s", (text) => {
  const members = memberTexts(text);
  const parsed = JSON.parse(text) as Record<string, unknown>;
  expect([...members.keys()]).toEqual(Object.keys(parsed));
  for (const [name, member] of members) expect(JSON.parse(member)).toEqual(parsed[name]);
  expect(JSON.parse(objectText(members))).toEqual(parsed);
});

test("numbers keep their digits", () => {
  expect(memberTexts('{"n" : 1.10, "m":[12345678901234567890]}')).toEqual(
    new Map([
      ["n", "1.10"],
      ["m", "[12345678901234567890]"],
    ]),
  );
});

test("elements are cut out as they are written", () => {
  expect(elementTexts(' [ 1.0 ,"a,]", {"b":[1,2]} , [ ] ,null]')).toEqual([
    "1.0",
    '"a,]"',
    '{"b":[1,2]}',
    "[ ]",
    "null",
  ]);
  expect(elementTexts("[]")).toEqual([]);
});

test("what is no object has no members, and what is no array no elements", () => {
  expect(memberTexts("[1]").size).toBe(0);
  expect(elementTexts('{"a":1}')).toEqual([]);
});

test("long texts are read", () => {
  const long = JSON.stringify('\n"'.repeat(1_000_000));
  expect(memberTexts(`{"a":${long},"b":1}`).get("b")).toBe("1");
});
