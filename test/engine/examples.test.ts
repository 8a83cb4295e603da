import { describe, expect, it } from "vitest";

import { examples as order } from "./support/examples/order.js";
import { examples as parts } from "./support/examples/parts.js";
import { linesOf, played } from "./support/story.js";
import { underEngine } from "./support/subject-engine.js";
import { underReference } from "./support/subject-reference.js";

const examples = [...parts, ...order];

describe.each([
  { judge: "the engine", create: underEngine },
  { judge: "the reference", create: underReference },
])("worked examples under $judge", ({ create }) => {
  it.each(examples)("$name", (example) => {
    expect(played(create, example)).toEqual(linesOf(example.story));
  });
});
