import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { OccurrenceQueue } from "../../src/engine/aggregates/occurrences.js";
import { check, timeout } from "./support/runner.js";

/** An occurrence, identified by its value. */
type Occurrence = [occurredAt: number, value: number];

/** A queue and its expected content. */
interface Checked {
  queue: OccurrenceQueue;
  expected: Occurrence[];
}

const step = fc.record({
  what: fc.constantFrom("append", "append", "append", "insert", "removeFirst", "remove", "clear", "clone", "clone"),
  which: fc.nat(),
  place: fc.nat(),
  times: fc.integer({ min: 1, max: 80 }),
});

describe("clones of a queue of occurrences", () => {
  it("share their content, but no later changes", { timeout }, () => {
    check(
      fc.property(fc.nat({ max: 5 }), fc.array(step, { maxLength: 40 }), (opened, steps) => {
        const places = Array.from({ length: opened }, (_, i) => i);
        const memory = Object.freeze({ occurredAt: [...places], seq: [...places], value: places.map((i) => -i) });
        for (const list of Object.values(memory)) Object.freeze(list);
        const all: Checked[] = [{ queue: new OccurrenceQueue(memory), expected: places.map((i) => [i, -i]) }];
        let made = 0;
        const insert = ({ queue, expected }: Checked, index: number): void => {
          const occurredAt = expected[index]?.[0] ?? (expected.at(-1)?.[0] ?? 0) + 1;
          queue.insert(index, occurredAt, occurredAt, ++made);
          expected.splice(index, 0, [occurredAt, made]);
        };
        for (const { what, which, place, times } of steps) {
          const one = all[which % all.length]!;
          const { queue, expected } = one;
          const index = expected.length === 0 ? 0 : place % expected.length;
          if (what === "append") for (let i = 0; i < times; i++) insert(one, expected.length);
          else if (what === "insert") insert(one, index);
          else if (what === "clone") all.push({ queue: queue.clone(), expected: [...expected] });
          else if (what === "clear") {
            queue.clear();
            expected.splice(0);
          } else if (what === "remove") {
            queue.remove(index, Math.min(times, expected.length - index));
            expected.splice(index, times);
          } else {
            for (let i = 0; i < times && expected.shift() !== undefined; i++) queue.removeFirst();
          }
        }
        for (const { queue, expected } of all) expectHeld(queue, expected);
      }),
    );
  });
});

function expectHeld(queue: OccurrenceQueue, expected: readonly Occurrence[]): void {
  expect(queue.length).toBe(expected.length);
  const { occurredAt, value } = queue.toMemory(expected.length + 1);
  expect(occurredAt.map((at, i) => [at, value[i]])).toEqual(expected);
  expect(queue.toMemory(1).seq.length).toBe(Math.min(1, expected.length));
  expect(queue.find(Infinity, 0)).toBe(expected.length);
  expect(queue.lists).toEqual(queue.toMemory(expected.length));
}
