import { beforeAll, expect, it } from "vitest";
import type { Attacked, Outcome } from "../../attacks/outcome.js";
import { useRepositoryProgram } from "../support/repository-program.js";
import { attackAtOnce } from "./support/run.js";

/** Those that are over soon where the service bounds them. */
const ATTACKS = [
  ...["pipelined-upgrade", "second-host", "takeover", "advisory-locks", "stalled-uploads-3"],
  ...["body-members", "body-event-members", "cycle-year-1", "cycle-preview", "distinct"],
];

const attacks = useRepositoryProgram("attacks");
let outcome: Outcome;
let each: Attacked[];

beforeAll(async () => {
  ({ outcome, each } = await attackAtOnce(attacks, ATTACKS));
}, 300_000);

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
