import { once } from "node:events";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { readOptions } from "../../attacks/options.js";
import type { Attacked, Outcome } from "../../attacks/outcome.js";
import { useRepositoryProgram } from "../support/repository-program.js";

const attacks = useRepositoryProgram("attacks");

describe("attacks that are over soon where the service bounds them, all at once for a few seconds", () => {
  const names = [
    ...["pipelined-upgrade", "second-host", "takeover", "advisory-locks", "stalled-uploads-3", "slow-headers"],
    ...["streams", "body-members", "body-event-members", "cycle-year-1", "cycle-preview", "distinct"],
  ];
  let outcome: Outcome;
  let each: Attacked[];

  // How long anything took is for nobody to look at: it depends on the machine.
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

  it("the neighbour's events are accepted and evaluated while everything of it goes on, each once", () => {
    expect({ refused: outcome.refused, notOnce: outcome.notOnce }).toEqual({ refused: {}, notOnce: 0 });
    expect(outcome.during?.count).toBeGreaterThan(0);
  });

  it("no worker and no process has to be started again", () => {
    expect(outcome.restarts).toBe(0);
  });

  it("every attack took place", () => {
    expect(each.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    expect(each.filter(({ requests }) => requests === 0)).toEqual([]);
  });

  it.each(["pipelined-upgrade", "second-host", "takeover", "slow-headers", "streams"])(
    "what %s is about does not happen",
    (name) => {
      expect(each.find((one) => one.name === name)?.breaches).toEqual([]);
    },
  );

  it("leaves nothing behind", async () => {
    expect(await attacks.leftovers()).toEqual([]);
  });
});

it("a run that is interrupted ends what it started and removes its data", { timeout: 120_000 }, () =>
  attacks.interrupt(["--only", "second-host"], /^second-host: /),
);

it.each([
  [["--only", "nothing"], /^--only: there is no attack `nothing`; there are .*\bcycle-year-1\b/],
  [["--minutes", "0"], /^--minutes must be a number above 0, at most 1440$/],
])("what cannot be run is refused: %o", async (args, problem) => {
  await expect(readOptions(args, () => undefined)).rejects.toMatchObject({
    message: expect.stringMatching(problem),
    exitCode: 2,
  });
});
