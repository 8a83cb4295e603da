import { expect, it } from "vitest";
import { readOptions } from "../../attacks/options.js";
import { useRepositoryProgram } from "../support/repository-program.js";
import { attackAtOnce } from "./support/run.js";

const attacks = useRepositoryProgram("attacks");

it(
  "the neighbour's events are evaluated, each once, while somebody keeps connections busy",
  { timeout: 180_000 },
  async () => {
    const { outcome } = await attackAtOnce(attacks, ["slow-headers", "streams"]);

    const { breaches, notOnce, restarts, refused, during } = outcome;
    expect({ breaches, notOnce, restarts, refused }).toEqual({ breaches: [], notOnce: 0, restarts: 0, refused: {} });
    expect(during?.count).toBeGreaterThan(0);
    expect(await attacks.leftovers()).toEqual([]);
  },
);

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
