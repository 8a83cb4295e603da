import { PageError } from "../page.js";
import { Allowed, ChangeForm } from "../changes.js";
import { type ConsolePage, given } from "../console-page.js";
import { Changes } from "./version.js";
import { versionHref } from "./model.js";

const WAYS = ["promote", "rollback"] as const;

/** Asks whether a version is to be made the active one, with what that changes. */
export const activatePage: ConsolePage = {
  path: "activate",
  inService: true,
  async answer(visit) {
    const { ask, query, environment, activeVersion } = visit;
    const version = query.get("version") ?? "";
    const way = wayOf(given(query, "as"), environment);
    const difference = await ask("config-diff", { from: activeVersion ?? undefined, to: version });
    const verb = way === "promote" ? "Promote" : "Roll back to";
    return {
      title: `${verb} ${version}?`,
      body: (
        <>
          <p>
            {version} becomes the active version of <strong>{environment}</strong>
            {activeVersion === null ? "" : `, in place of ${activeVersion}`}. What is evaluated from then on follows it;
            customers stay as they are until something happens or a recompute.
          </p>
          <h2>What is different</h2>
          <Changes difference={difference} />
          <Allowed visit={visit} operation={`${way}_config`} what={`do that in ${environment}`} who="an administrator">
            <ChangeForm visit={visit} path="activate" hidden={{ version, as: way, expected: activeVersion ?? "" }}>
              <label class="check">
                <input type="checkbox" name="force" value="true" /> Also if data is stranded by it
              </label>
              <p>
                <button>
                  {verb} {version} in {environment}
                </button>{" "}
                <a href={versionHref(version)}>Leave it</a>
              </p>
            </ChangeForm>
          </Allowed>
        </>
      ),
    };
  },
  change: {
    fields: ["version", "as", "expected", "force"],
    async make({ tell, environment, form }) {
      const { version = "", expected = "", force } = form;
      const body = { expected: expected === "" ? null : expected, ...(force === "true" && { force: true }) };
      await tell(`POST config-versions/:version/${wayOf(form["as"], environment)}`, { version }, body);
      return versionHref(version);
    },
  },
};

function wayOf(way: string | undefined, environment: "test" | "live"): (typeof WAYS)[number] {
  const known = WAYS.find((each) => each === way);
  // It would be promoted to live, whatever environment the page speaks of.
  if (known === "promote" && environment !== "live") {
    throw new PageError(400, {
      title: "Nothing is promoted here",
      message: `A version is promoted to live, and this is ${environment}.`,
      fix: "Choose live above to promote it.",
    });
  }
  if (known !== undefined) return known;
  throw new PageError(400, {
    title: "Neither promoted nor rolled back",
    message: "The address says neither to promote the version nor to roll back to it.",
    fix: "Open the version's page and follow one of its links.",
  });
}
