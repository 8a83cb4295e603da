import { describe, expect, it } from "vitest";

import type { HistoryRequest, TrackOperation } from "../../src/engine/state/types.js";
import { modelOf, seen, sequence } from "./support/builders.js";
import { Run } from "./support/runner.js";

const MINUTE = 60_000;
const T0 = Date.UTC(2026, 0, 1);
const model = modelOf({ segments: { s: sequence("invited", "joined", "5m") } });

let seq = 0;
const track = (event: string, minute: number): TrackOperation => {
  return { ...seen(++seq, T0 + minute * MINUTE, event), acceptedAt: T0 + 1_000 * MINUTE };
};
const many = (event: string, from: number): TrackOperation[] =>
  Array.from({ length: 20 }, (_, i) => track(event, from + i));

/** Evaluates each list of operations in a separate call, and records the requests to the history. */
function play(...calls: TrackOperation[][]): { isMember: boolean; requests: HistoryRequest[] } {
  const run = new Run(model, "pages");
  for (const operations of calls) run.take(operations);
  return { isMember: Object.hasOwn(run.state.segments, "s"), requests: run.requests };
}

describe("a sequence", () => {
  it("makes no history requests while events come in order", () => {
    expect(play(many("invited", 0), many("other", 30), [track("joined", 60)])).toEqual({
      isMember: false,
      requests: [],
    });
    expect(play(many("invited", 0), [track("joined", 23)])).toEqual({ isMember: true, requests: [] });
  });

  it("does not count a second event exactly the window's length after the first", () => {
    expect(play([track("invited", 0)], [track("joined", 5)]).isMember).toBe(false);
    expect(play([track("invited", 0)], [track("joined", 4)]).isMember).toBe(true);
  });

  it("looks up the first event of a late second in the history once it is no longer remembered", () => {
    const { isMember, requests } = play([track("invited", 10)], many("invited", 100), [track("joined", 12)]);
    expect(isMember).toBe(true);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ event: "invited", after: { occurredAt: T0 + 7 * MINUTE } });
    expect(play([track("invited", 2)], many("invited", 100), [track("joined", 12)]).isMember).toBe(false);
  });

  it("looks up the second event of a late first in the history once it is no longer remembered", () => {
    const { isMember, requests } = play([track("joined", 12)], many("joined", 100), [track("invited", 10)]);
    expect(isMember).toBe(true);
    expect(requests).toHaveLength(1);
    expect(play([track("joined", 12)], many("joined", 100), [track("invited", 7)]).isMember).toBe(false);
  });
});
