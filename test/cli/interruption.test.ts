import { expect, test } from "vitest";

import { UserError } from "../../src/cli/core/errors.js";
import { cancellable, interruptible } from "../../src/cli/output/interruption.js";
import { outcomeOf } from "../../src/cli/output/change.js";

/** Fails as a child does that the same Ctrl+C has ended, before the signal is read here. */
function endedWithChild(): Promise<never> {
  process.kill(process.pid, "SIGINT");
  return Promise.reject(new Error("the child was stopped: write EPIPE"));
}

test("what failed because Ctrl+C ended a child was cancelled", async () => {
  await expect(cancellable(endedWithChild)).rejects.toMatchObject({ code: "CANCELLED" });
});

test("what goes on until it is interrupted ends well, though the child's end is seen first", async () => {
  await expect(interruptible(endedWithChild)).resolves.toBeUndefined();
});

test("nobody knows the outcome of a change that failed because of Ctrl+C", async () => {
  await expect(outcomeOf("svc keys list", endedWithChild)).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
});

test("what failed by itself stays as it is", async () => {
  const failure = new UserError("CONFIG_INVALID", "the model has 1 error");
  await expect(cancellable(() => Promise.reject(failure))).rejects.toBe(failure);
});
