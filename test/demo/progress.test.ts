import { expect, test } from "vitest";
import { lines } from "../../src/demo/progress.js";

test("progress in a file is told at every tenth, once, and never goes back", () => {
  let text = "";
  const progress = lines({ write: (more) => (text += more) }, "sending", 1_000, "operations");
  for (const done of [0, 50, 100, 120, 90, 350, 1_000, 1_000]) progress.update(done);
  progress.finish();
  expect(text).toBe(
    [
      "sending 10 % (100 of 1000 operations)",
      "sending 30 % (350 of 1000 operations)",
      "sending 100 % (1000 of 1000 operations)",
      "",
    ].join("\n"),
  );
});
