import { once } from "node:events";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { readOptions } from "../../attacks/options.js";
import type { Attacked, Outcome } from "../../attacks/outcome.js";
import { useRepositoryProgram } from "../support/repository-program.js";

const attacks = useRepositoryProgram("attacks");

describe("attacks that end soon if the service limits them, all at once for a few seconds", () => {
  const names = [
    ...["pipelined-upgrade", "second-host", "takeover", "advisory-locks", "stalled-uploads-3", "slow-headers"],
    ...["streams", "body-members", "body-event-members", "cycle-year-1", "cycle-preview", "distinct"],
  ];
  let outcome: Outcome;
  let each: Attacked[];

  // Durations are not checked, because they depend on the machine.
  beforeAll(async () => {
    const file = path.join(attacks.directory, "outcome.json");
    const argv = ["--only", names.join(","), "--all-at-once", "--minutes", "0.1", "--json", file];
    const child = attacks.start(...argv);
    child.stdout!.resume();
    await once(child, "exit");
    const written = JSON.parse(await readFile(file, "utf8")) as { outcomes: [Outcome]; each: Attacked[] };
    [outcome] = written.outcomes;
    ({ each } = written);
  }, 300_000);

  it("the neighbour's events are accepted and evaluated once each during the attacks", () => {
    expect({ refused: outcome.refused, notOnce: outcome.notOnce }).toEqual({ refused: {}, notOnce: 0 });
    expect(outcome.during?.count).toBeGreaterThan(0);
  });

  it("no worker or other process has to be restarted", () => {
    expect(outcome.restarts).toBe(0);
  });

  it("every attack took place", () => {
    expect(each.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    expect(each.filter(({ requests }) => requests === 0)).toEqual([]);
  });

  it.each(["pipelined-upgrade", "second-host", "takeover", "slow-headers", "streams"])(
    "%s causes no breach",
    (name) => {
      expect(each.find((one) => one.name === name)?.breaches).toEqual([]);
    },
  );

  it("the run leaves nothing behind", async () => {
    expect(await attacks.leftovers()).toEqual([]);
  });
});

it("an interrupted run ends its processes and removes its data", { timeout: 120_000 }, () =>
  attacks.interrupt(["--only", "second-host"], /^second-host: /),
);

it.each([
  [["--only", "nothing"], /^--only: there is no attack `nothing`; there are .*\bcycle-year-1\b/],
  [["--minutes", "0"], /^--minutes must be a number above 0, at most 1440$/],
])("invalid options are refused: %o", async (args, problem) => {
  await expect(readOptions(args, () => undefined)).rejects.toMatchObject({
    message: expect.stringMatching(problem),
    exitCode: 2,
  });
});
