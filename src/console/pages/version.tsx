import type { ConfigDiff, ConfigVersion, Preview } from "../../http/admin/answers.js";
import { groupByPart, countChanges } from "../../words/changes.js";
import { type ConsolePage, queryParam, type Visit } from "../console-page.js";
import { address, At, Empty, FORCE, LinkLine, Section, Text, versionHref } from "../parts.js";
import { Allowed, ChangeForm, changeIn, showsForm } from "../changes.js";
import { InputField, OneOf, ViewForm } from "../forms.js";
import { FactList } from "../tables.js";
import { BACKTEST, BacktestForm, beginBacktest, FORM_FIELDS } from "./backtests/form.js";
import { sourceOf } from "./model.js";
import { PageError } from "../page.js";
import { plural } from "../../words/text.js";
import { JobModel, jobView, partQuery } from "./recomputes/job.js";

const VERSION = "version";
const ACTIVATE = "activate";
const PREVIEW = "preview";

/** A version: its differences from the one before it or from any other, and forms to activate, preview and backtest it. */
export const versionPage: ConsolePage = {
  path: VERSION,
  inService: true,
  async answer(visit) {
    const { ask, query } = visit;
    const id = query.get("id") ?? "";
    const from = queryParam(query, "from");
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
              From: <Text>{sourceOf(version.provenance) || "unknown"}</Text>,
              "Active in": version.active.length === 0 ? "none" : version.active.join(", "),
            }}
          />
          <Actions visit={visit} version={version} wasActive={wasActive} />
          <PreviewForm visit={visit} version={version} />
          <BacktestForm
            visit={visit}
            path={VERSION}
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
    fields: [...FORM_FIELDS, "sample"],
    async make({ ask, tell, form }) {
      if (changeIn(form, [PREVIEW, BACKTEST]) === BACKTEST) return beginBacktest(tell, form);
      const { version = "", sample } = form;
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

/** The form that starts a preview of a version that is not active here; nothing for users who may not. */
function PreviewForm({ visit, version: { version, active } }: { visit: Visit; version: ConfigVersion }) {
  const { environment } = visit;
  if (!showsForm(visit, "create_preview") || active.includes(environment)) return null;
  return (
    <ChangeForm visit={visit} path={VERSION} hidden={{ as: PREVIEW, version }} class="filters">
      <OneOf label={`What it would change in ${environment}`} name="sample" choices={SAMPLES} />
      <button class="second">Preview it</button>
    </ChangeForm>
  );
}

/** The links to activate the version in the environment, for users who may. */
function Actions({ visit, version, wasActive }: { visit: Visit; version: ConfigVersion; wasActive: boolean }) {
  const { environment, may } = visit;
  const id = version.version;
  if (version.active.some((active) => active === environment)) {
    return (
      <p>
        It is active here. Customers stay as an earlier version left them until something happens to them;{" "}
        <a href="recomputes">a dry run</a> shows whom it changes, and how.
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

/** The most differences that are shown. */
const CHANGES_MAX = 500;

/** Differences in the author's terms, by part of the model, up to CHANGES_MAX. */
export function Changes({ difference: { from, to, changes } }: { difference: ConfigDiff }) {
  if (changes.length === 0) return <Empty>Nothing is different.</Empty>;
  return (
    <>
      <p>{countChanges(changes)}.</p>
      {[...groupByPart(changes.slice(0, CHANGES_MAX))].map(([part, lines]) => (
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
          Only the first {CHANGES_MAX} are shown;{" "}
          <code>{from === null ? `svc config pull --version ${to}` : `svc config diff ${from} ${to}`}</code> shows all.
        </Empty>
      )}
    </>
  );
}

const WAYS = ["promote", "rollback"] as const;

/** Asks for confirmation before a version becomes active, and shows the differences. */
export const activatePage: ConsolePage = {
  path: ACTIVATE,
  inService: true,
  async answer(visit) {
    const { ask, query, environment, activeVersion } = visit;
    const version = query.get("version") ?? "";
    const way = wayOf(queryParam(query, "as"), environment);
    if (version === activeVersion) {
      const already = <Empty>{`${version} is the active version of ${environment} already.`}</Empty>;
      return { title: `${version} is active`, body: already };
    }
    const difference = await ask("config-diff", { from: activeVersion ?? undefined, to: version });
    const verb = way === "promote" ? "Promote" : "Roll back to";
    return {
      title: `${verb} ${version}?`,
      body: (
        <>
          <p>
            {version} becomes the active version of <strong>{environment}</strong>
            {activeVersion === null ? "" : `, in place of ${activeVersion}`}. Evaluations follow it from then on;
            customers stay as they are until something happens to them, or until a recompute.
          </p>
          <h2>What is different</h2>
          <Changes difference={difference} />
          <Allowed visit={visit} operation={`${way}_config`} what={`do that in ${environment}`} who="an administrator">
            <ChangeForm visit={visit} path={ACTIVATE} hidden={{ version, as: way, expected: activeVersion ?? "" }}>
              {/* Not marked again after a refusal: by then, what the mark allows may be another difference. */}
              <label class="check">
                <input type="checkbox" name="force" value="true" aria-describedby="force-hint" /> {FORCE}
              </label>
              <p class="hint" id="force-hint">
                Customers may be in states, journeys and segments that {version} does not have. Without the mark,
                nothing is changed then, and you see which.
              </p>
              <p>
                <button>
                  {verb} {version} in {environment}
                </button>{" "}
                <a href={versionHref(version)}>Cancel</a>
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
  // Promoting always changes live, whatever the page's environment.
  if (known === "promote" && environment !== "live") {
    throw new PageError(400, {
      title: "Nothing is promoted here",
      message: `Versions are promoted to live, but this is ${environment}.`,
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

/** The address of a preview's page. @param version the previewed version */
const previewHref = (id: string, version: string) => address(PREVIEW, { id, version });

/** What a version that is not active would change, and for which customers. */
export const previewPage: ConsolePage = {
  path: PREVIEW,
  list: "model",
  inService: true,
  async answer(visit) {
    const { ask, query } = visit;
    const preview = query.get("id") ?? "";
    const named = queryParam(query, "version");
    const [job, changed, found] = await Promise.all([
      ask("previews/:preview", { preview }),
      ask("previews/:preview/customers", { preview, ...partQuery(query) }),
      named === undefined ? null : ask("config-versions/:version", { version: named }),
    ]);
    // A preview only has its snapshot; the address says which version that is.
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
        For: job.sample === null ? "all customers" : `about ${plural(job.sample, "customer")}`,
      },
      actions: version === undefined ? null : <LinkLine href={versionHref(version)} text={`Back to ${version}`} />,
    });
  },
};
