import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

interface Progress {
  update(done: number): void;
  note(text: string): void;
  end(): void;
}
interface Options {
  output: { isTTY: boolean; columns?: number; write: (text: string) => void };
  unit: string;
  total: number | null;
  first?: number;
}
const file = path.resolve(import.meta.dirname, "../../examples/backfill/lib/progress.mjs");
const { Progress } = (await import(pathToFileURL(file).href)) as { Progress: new (options: Options) => Progress };

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

let written: string[];
const start = (isTTY: boolean, options: Partial<Options> = {}, columns?: number) => {
  written = [];
  const output = { isTTY, write: (text: string) => void written.push(text), ...(columns !== undefined && { columns }) };
  return new Progress({ output, unit: "rows", total: 20_000, ...options });
};

test("on a terminal, one line is rewritten, and ended before anything else is printed", () => {
  const progress = start(true);
  vi.advanceTimersByTime(2_000);
  progress.update(4_000);
  vi.advanceTimersByTime(2_000);
  progress.update(8_000);
  progress.note("slow");
  progress.update(20_000);
  progress.end();
  progress.end();
  expect(written).toEqual([
    "\r\u001b[2K4,000 of 20,000 rows, 20 %, 2,000 a second, about 8 s left",
    "\r\u001b[2K8,000 of 20,000 rows, 40 %, 2,000 a second, about 6 s left",
    "\n",
    "slow\n",
    "\r\u001b[2K20,000 of 20,000 rows, 100 %, 5,000 a second",
    "\n",
  ]);
});

test("on a narrow terminal, the line is cut, because a longer one could not be rewritten", () => {
  const progress = start(true, {}, 20);
  progress.update(0);
  expect(written).toEqual(["\r\u001b[2K0 of 20,000 rows, 0"]);
});

test("elsewhere, a line is printed every five seconds, and the same delay only once in a row", () => {
  const progress = start(false);
  for (const second of [1, 2, 3, 4, 5, 6]) {
    vi.advanceTimersByTime(1_000);
    progress.update(second * 100);
  }
  progress.note("slow");
  progress.note("slow");
  progress.end();
  expect(written).toEqual(["500 of 20,000 rows, 2 %, 100 a second, about 3 min left\n", "slow\n"]);
});

test("the rate is of this run; without a total there is no estimate", () => {
  const goingOn = start(true, { first: 10_000 });
  vi.advanceTimersByTime(1_000);
  goingOn.update(10_001);
  expect(written).toEqual(["\r\u001b[2K10,001 of 20,000 rows, 50 %, 1 a second, about 2.8 h left"]);
  const unknown = start(true, { total: null });
  vi.advanceTimersByTime(1_000);
  unknown.update(7);
  expect(written).toEqual(["\r\u001b[2K7 rows, 7 a second"]);
});
