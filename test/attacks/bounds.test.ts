import { rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Attacked, Outcome } from "../../attacks/outcome.js";
import { temporaryDirectory } from "../support/server.js";
import { attackAtOnce } from "./support/run.js";

/** Those that are over soon where the service bounds them. */
const ATTACKS = [
  ...["pipelined-upgrade", "second-host", "takeover", "advisory-locks", "stalled-uploads-3"],
  ...["body-members", "body-event-members", "cycle-year-1", "cycle-preview", "distinct"],
];

let directory: string;
let outcome: Outcome;
let each: Attacked[];

beforeAll(async () => {
  directory = await temporaryDirectory();
  ({ outcome, each } = await attackAtOnce(directory, ATTACKS));
}, 300_000);
afterAll(() => rm(directory, { recursive: true, force: true }));

it("the neighbour's events are accepted and evaluated while everything of it goes on, each once", () => {
  expect({ refused: outcome.refused, notOnce: outcome.notOnce }).toEqual({ refused: {}, notOnce: 0 });
  expect(outcome.during?.count).toBeGreaterThan(0);
});

it("no worker and no process has to be started again", () => {
  expect(outcome.restarts).toBe(0);
});

it("every attack took place", () => {
  expect(each.filter(({ requests }) => requests === 0)).toEqual([]);
});

it.each(["pipelined-upgrade", "second-host", "takeover"])("what %s is about does not happen", (name) => {
  expect(each.find((one) => one.name === name)?.breaches).toEqual([]);
});
