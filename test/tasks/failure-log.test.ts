import { pino } from "pino";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FailureLog } from "../../src/tasks/failure-log.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const failure = (code: string) => Object.assign(new Error("it failed"), { code });

it("of failures in a row the first is logged, then one a minute with the number of the others, and any with another code", () => {
  const lines: { err: { code: string }; unlogged?: number }[] = [];
  const logger = pino({}, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) });
  const log = new FailureLog(logger, "error", "the tick failed");
  const fail = (times: number, code: string) => {
    for (let n = 0; n < times; n++) {
      log.failed(failure(code));
      vi.advanceTimersByTime(1_000);
    }
    return lines.splice(0).map(({ err, unlogged }) => [err.code, unlogged]);
  };
  expect(fail(150, "25006")).toEqual([
    ["25006", undefined],
    ["25006", 59],
    ["25006", 59],
  ]);
  expect(fail(2, "53300")).toEqual([["53300", 29]]);
  log.succeeded();
  expect(fail(2, "53300")).toEqual([["53300", undefined]]);
});
