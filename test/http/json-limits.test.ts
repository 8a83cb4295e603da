import { describe, expect, it } from "vitest";
import { countJson, type JsonLimits } from "../../src/http/request/json-limits.js";

const FREE: JsonLimits = {
  depthMax: Infinity,
  containersMax: Infinity,
  valuesMax: Infinity,
  membersMax: Infinity,
  itemsMax: Infinity,
  part: { depth: 3, valuesMax: Infinity, charactersMax: Infinity },
};
const LONG = "n".repeat(5_000);
const exceeded = (text: string, limits: Partial<JsonLimits>) => countJson(text, { ...FREE, ...limits }).exceeded;

describe("depth and containers", () => {
  const LIMITS = { depthMax: 3, containersMax: 5 };

  it.each([
    ["as many levels as allowed", '[{"a":[1,2,3]}]'],
    ["as many objects and arrays as allowed", "[{},{},[],[]]"],
    ["levels one after another", '[[[1]],[["a"]]]'],
    ["brackets in a text", '["[[[[[[", "{{{{{{"]'],
    ["brackets in a text after an escaped quote", String.raw`["\"[[[[[["]`],
    ["brackets after a text that ends with a backslash", String.raw`["\\",[[1]]]`],
    ["a text without an end", '["[[[[[['],
    ["a text that ends within an escape", '["[[[[[[\\'],
    ["closing brackets only", "]]]]]]]]"],
  ])("JSON within the limits exceeds none: %s", (_, text) => {
    expect(exceeded(text, LIMITS)).toBeNull();
  });

  it.each([
    ["depthMax", ["[[[[]]]]", '{"a":{"b":{"c":{}}}}', '[{"a":[{}]}]', "[[[[", String.raw`["\\",[[[1]]]]`]],
    ["containersMax", ["[[],[],[],[],[]]", '[{},{},{},{},{"a":1}]', "[[{}],[{}],[]]"]],
  ])("distinguishes nesting that is too deep from too many containers: %s", (limit, texts) => {
    for (const text of texts) expect([text, exceeded(text, LIMITS)]).toEqual([text, { limit, path: "" }]);
  });
});

describe("numbers of values", () => {
  it.each<[string, Partial<JsonLimits>, string, ReturnType<typeof exceeded>]>([
    ["four values of four", { valuesMax: 4 }, "[1,2,3]", null],
    ["five of four", { valuesMax: 4 }, '{"a":1,"b":2,"c":{}}', { limit: "valuesMax", path: "" }],
    ["commas in a text", { valuesMax: 2 }, '["1,2,3"]', null],
    ["two members of two", { membersMax: 2 }, '{"a":[1,2,3],"b":{"c":1,"d":2,"e":3}}', null],
    ["three of two", { membersMax: 2 }, '{"a":1,"b":2,"c":3}', { limit: "membersMax", path: "" }],
    ["two items of two, twice", { itemsMax: 2 }, '{"a":[1,2],"b":[1,2]}', null],
    ["three items of two", { itemsMax: 2 }, '{"a":[1,2],"b":[1,2,3]}', { limit: "itemsMax", path: "b" }],
    ["of an object", { itemsMax: 2 }, '{"a":{"b":1,"c":2,"d":3}}', { limit: "itemsMax", path: "a" }],
    ["items further down", { itemsMax: 2 }, '{"a":[[1,2,3]]}', null],
    ["under a name that cannot be shown", { itemsMax: 1 }, `{"${LONG}":[1,2]}`, { limit: "itemsMax", path: "" }],
    ["of an array without names", { itemsMax: 1 }, "[[1,2]]", { limit: "itemsMax", path: "" }],
  ])("%s", (_, limits, text, found) => {
    expect(exceeded(text, limits)).toEqual(found);
  });

  it("are counted, one more for empty containers", () => {
    expect(countJson('{"a":[1,2,3],"b":"x"}', FREE).values).toBe(6);
    expect(countJson('{"a":[1,2,3],"b":{}}', FREE).values).toBe(7);
  });
});

describe("the parts of a document", () => {
  const part = { depth: 3, valuesMax: 3, charactersMax: 20 };

  it.each([
    ["with as many values as allowed", '{"events":[{"a":[1]},{"a":[1]},{"a":1,"b":2}]}'],
    ["with as many characters as allowed", `{"events":[{"a":"${"x".repeat(12)}"}]}`],
    ["that are scalars", `{"events":[1,2,3,4,"${"x".repeat(100)}"]}`],
  ])("are accepted %s", (_, text) => {
    expect(exceeded(text, { part })).toBeNull();
  });

  it.each<[string, string, ReturnType<typeof exceeded>]>([
    ["values", '{"events":[{},{"a":[1,2,3,4]}]}', { limit: "partValuesMax", path: "events[1]" }],
    ["characters", `{"x":[],"events":[{"a":"${"x".repeat(15)}"}]}`, { limit: "partCharactersMax", path: "events[0]" }],
  ])("are reported if one has too many %s", (_, text, found) => {
    expect(exceeded(text, { part })).toEqual(found);
  });

  it("can be the document's members", () => {
    const limits = { part: { ...part, depth: 2 } };
    expect(exceeded('{"a":[1,2],"b":{"c":[1,2,3,4]}}', limits)).toEqual({ limit: "partValuesMax", path: "b" });
  });
});
