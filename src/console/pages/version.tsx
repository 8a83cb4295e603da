import type { ConfigDiff, ConfigVersion, Preview } from "../../http/admin/answers.js";
import { byPart, countChanges } from "../../words/changes.js";
import { type ConsolePage, given, type Visit } from "../console-page.js";
import { address, At, Empty, LinkLine, Section, Text, versionHref } from "../parts.js";
import { Allowed, ChangeForm } from "../changes.js";
import { InputField, OneOf, ViewForm } from "../forms.js";
import { FactList } from "../tables.js";
import { BacktestForm } from "./backtests/form.js";
import { sourceOf } from "./model.js";
import { PageError } from "../page.js";
import { plural } from "../../words/text.js";
import { JobModel, jobView, partQuery } from "./recomputes/job.js";

const VERSION = "version";
const ACTIVATE = "activate";
const PREVIEW = "preview";

/** What a version changes, from the one before it or any other, and what can be done with it. */
export const versionPage: ConsolePage = {
  path: VERSION,
  inService: true,
  async answer(visit) {
    const { ask, query } = visit;
    const id = query.get("id") ?? "";
    const from = given(query, "from");
    const [version, difference, activations] = await Promise.all([
      ask("config-versions/:version", { version: id }),
      ask("config-diff", { from, to: id }),
      ask("activations", { limit: "200" }),
    ]);
    const wasActive = activations.data.some(({ version }) => version === id);
    return {
      title: `Version ${version.version}`,
      body: (
        <>
          <FactList
            of={{
              Deployed: <At iso={version.createdAt} by={version.author} />,
              From: <Text>{sourceOf(version.provenance) || "nobody said"}</Text>,
              "Active in": version.active.length === 0 ? "none" : version.active.join(", "),
            }}
          />
          <Actions visit={visit} version={version} wasActive={wasActive} />
          <PreviewForm visit={visit} version={version} />
          <BacktestForm
            visit={visit}
            version={version.version}
            model={version.snapshot}
            against={visit.activeVersion === version.version ? null : visit.activeVersion}
          />
          <Section id="changes" title={`What is different from ${difference.from ?? "nothing"}`}>
            <Changes difference={difference} />
            <ViewForm path={VERSION} hidden={{ id: version.version }} button="Compare">
              <InputField label="Compare with" name="from" query={query} placeholder="v1" maxLength={16} />
            </ViewForm>
          </Section>
        </>
      ),
    };
  },
  change: {
    fields: ["version", "sample"],
    async make({ ask, tell, form: { version = "", sample } }) {
      const { snapshot } = await ask("config-versions/:version", { version });
      const body = { snapshot, ...(sample !== "all" && { sample: Number(sample) }) };
      const { id } = (await tell("POST previews", {}, body)) as Preview;
      return previewHref(id, version);
    },
  },
};

const SAMPLES = [
  { value: "200", text: "for about 200 customers" },
  { value: "2000", text: "for about 2,000 customers" },
  { value: "all", text: "for all customers" },
];

/** Begins a preview, by whoever may, of a version that is not active here. */
function PreviewForm({ visit, version: { version, active } }: { visit: Visit; version: ConfigVersion }) {
  const { environment, may } = visit;
  if (!may("create_preview") || active.includes(environment)) return null;
  return (
    <ChangeForm visit={visit} path={VERSION} hidden={{ version }} class="filters">
      <OneOf label={`What it would change in ${environment}`} name="sample" choices={SAMPLES} />
      <button class="second">Preview it</button>
    </ChangeForm>
  );
}

/** What can be done with the version in the environment, by whoever may. */
function Actions({ visit, version, wasActive }: { visit: Visit; version: ConfigVersion; wasActive: boolean }) {
  const { environment, may } = visit;
  const id = version.version;
  if (version.active.some((active) => active === environment)) {
    return (
      <p>
        It is active here. Customers stay as a former version left them until something happens to them; whom it
        changes, and how, <a href="recomputes">a dry run</a> tells.
      </p>
    );
  }
  const link = (as: string, text: string) => <LinkLine href={address(ACTIVATE, { version: id, as })} text={text} />;
  return (
    <>
      {environment === "live" && !wasActive && may("promote_config") ? link("promote", "Promote it to live") : null}
      {wasActive && may("rollback_config") ? link("rollback", `Make it active in ${environment} again`) : null}
    </>
  );
}

/** So many differences are shown. */
const CHANGES_MAX = 500;

/** Differences in the author's terms, by the parts of a model; the first of many. */
export function Changes({ difference: { from, to, changes } }: { difference: ConfigDiff }) {
  if (changes.length === 0) return <Empty>Nothing is different.</Empty>;
  return (
    <>
      <p>{countChanges(changes)}.</p>
      {[...byPart(changes.slice(0, CHANGES_MAX))].map(([part, lines]) => (
        <section key={part} aria-label={part}>
          <h3>{part}</h3>
          <ul>
            {lines.map(({ kind, about, message }, index) => (
              <li key={index}>
                <span class="faint">{kind}</span> {about === "" ? null : <Text>{`${about}: `}</Text>}
                <Text>{message}</Text>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {changes.length <= CHANGES_MAX ? null : (
        <Empty>
          Only the first {CHANGES_MAX} are shown:{" "}
          <code>{from === null ? `svc config pull --version ${to}` : `svc config diff ${from} ${to}`}</code> tells all.
        </Empty>
      )}
    </>
  );
}

const WAYS = ["promote", "rollback"] as const;

/** Asks whether a version is to be made the active one, with what that changes. */
export const activatePage: ConsolePage = {
  path: ACTIVATE,
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
            <ChangeForm visit={visit} path={ACTIVATE} hidden={{ version, as: way, expected: activeVersion ?? "" }}>
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

/** The address of a preview's page. @param version that it is of */
const previewHref = (id: string, version: string) => address(PREVIEW, { id, version });

/** What a version that is not active would change, for whom. */
export const previewPage: ConsolePage = {
  path: PREVIEW,
  inService: true,
  async answer(visit) {
    const { ask, query } = visit;
    const preview = query.get("id") ?? "";
    const named = given(query, "version");
    const [job, changed, found] = await Promise.all([
      ask("previews/:preview", { preview }),
      ask("previews/:preview/customers", { preview, ...partQuery(query) }),
      named === undefined ? null : ask("config-versions/:version", { version: named }),
    ]);
    // A preview knows its snapshot only; the address says which version that is of.
    const version = found?.hash === job.hash ? found.version : undefined;
    return jobView(PREVIEW, visit, {
      job,
      changed,
      title: `What ${version ?? "another model"} would change`,
      about: {
        "Compared with": (
          <>
            <JobModel job={job} />; customers are replayed under both
          </>
        ),
        Of: job.sample === null ? "all customers" : `about ${plural(job.sample, "customer")}`,
      },
      actions: version === undefined ? null : <LinkLine href={versionHref(version)} text={`Back to ${version}`} />,
    });
  },
};
