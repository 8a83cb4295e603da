import { expect, it } from "vitest";
import type { HistoryEvent } from "../../src/engine/index.js";
import { HistoryCache } from "../../src/evaluation/history.js";

const EVENTS = [1, 2, 2, 3, 5, 8].map((occurredAt, i): HistoryEvent => {
  return { event: "paid", seq: i + 1, occurredAt, properties: {} };
});
const place = (occurredAt: number, seq: number) => ({ occurredAt, seq });
const BEGINNING = place(0, 0);

function ask(history: HistoryCache, after = BEGINNING, until: ReturnType<typeof place> | null = null, event = "paid") {
  const page = history.source({ event, after, until });
  return page && { seqs: page.events.map(({ seq }) => seq), complete: page.complete };
}

it("has no answer before anything was fetched, or for other events", () => {
  const history = new HistoryCache();
  expect(ask(history)).toBeUndefined();
  history.add({ event: "paid", after: BEGINNING, until: null }, { events: EVENTS, complete: true });
  expect(ask(history, BEGINNING, null, "other")).toBeUndefined();
});

it("answers every request within a history that was fetched to its end", () => {
  const history = new HistoryCache();
  history.add({ event: "paid", after: BEGINNING, until: null }, { events: EVENTS, complete: true });
  expect(ask(history)).toEqual({ seqs: [1, 2, 3, 4, 5, 6], complete: true });
  expect(ask(history, place(2, 2))).toEqual({ seqs: [3, 4, 5, 6], complete: true });
  expect(ask(history, place(2, 2), place(3, 4))).toEqual({ seqs: [3, 4], complete: true });
  expect(ask(history, place(8, 6)), "nothing is later").toEqual({ seqs: [], complete: true });
});

it("answers only as far as the history was fetched", () => {
  const history = new HistoryCache();
  history.add({ event: "paid", after: BEGINNING, until: null }, { events: EVENTS.slice(0, 3), complete: false });
  expect(ask(history)).toEqual({ seqs: [1, 2, 3], complete: false });
  expect(ask(history, BEGINNING, place(2, 2))).toEqual({ seqs: [1, 2], complete: true });
  expect(ask(history, BEGINNING, place(9, 9))).toEqual({ seqs: [1, 2, 3], complete: false });
  expect(ask(history, place(2, 3)), "what follows was not fetched").toBeUndefined();
  history.add({ event: "paid", after: place(2, 3), until: place(9, 9) }, { events: EVENTS.slice(3), complete: true });
  expect(ask(history, place(2, 3), place(9, 9))).toEqual({ seqs: [4, 5, 6], complete: true });
  expect(ask(history, place(2, 3)), "to the end it was not fetched").toEqual({ seqs: [4, 5, 6], complete: false });
});

it("does not answer requests that begin before the fetched part", () => {
  const history = new HistoryCache();
  history.add({ event: "paid", after: place(2, 3), until: null }, { events: EVENTS.slice(3), complete: true });
  expect(ask(history)).toBeUndefined();
  expect(ask(history, place(2, 2), place(3, 4))).toBeUndefined();
  history.add({ event: "none", after: place(8, 6), until: null }, { events: [], complete: true });
  expect(ask(history, place(8, 6), null, "none"), "there is nothing").toEqual({ seqs: [], complete: true });
});
