import type { Answer, Api, Page, Query } from "../api.js";
import { defineCommand } from "../command.js";
import { diagnose } from "../diagnosis.js";
import type { Facts, Problem, SchemaViolation } from "../diagnosis.js";
import { projectOptions } from "../options.js";
import type { Out } from "../out.js";
import type { Column } from "../table.js";
import { distance, number, plural, printable } from "../text.js";
import type { Overview } from "./overview.js";

/** The most that a page of a list may hold. */
const PAGE = 200;
/** So many are read at most: a version can have one more than 1,000 kinds of violations. */
const PAGES_MAX = 5;
/** What a person reads; names with ids in them can make a thousand kinds. */
const SHOWN_MAX = 20;

export default defineCommand({
  path: "diagnose",
  describe: "Check configuration and data for common problems; finding some is no failure",
  options: projectOptions,
  examples: [
    ["svc diagnose --env live", "What is wrong in live; the exit code is 1 only where it cannot be told"],
    ["svc diagnose --json", "The same for programs"],
  ],
  async handler({ api, out, settings }) {
    const { environment } = settings;
    const problems = diagnose(await ask(api, { env: environment }));
    // Not above: all commands of one word are loaded for `svc --help`, and libraries for tables need not be.
    const { table } = await import("../table.js");
    out.result({ document: { environment, problems } }, () => {
      if (problems.length === 0) return "No problems found.";
      return [...problems.map(inWords), `${plural(problems.length, "problem")} found in ${environment}.`].join("\n\n");
    });

    function inWords({ code, message, fix, violations, moreViolations }: Problem): string {
      const { bold, dim, yellow } = out.style;
      const lines = [`${yellow("problem")} ${dim(code)} ${bold(printable(message))}`, `  fix: ${printable(fix)}`];
      if (violations) {
        const most = violations.toSorted((a, b) => b.operations - a.operations).slice(0, SHOWN_MAX);
        lines.push("", table(out, columns(out), most));
        if (most.length < violations.length) lines.push(`The ${SHOWN_MAX} most frequent; --json has all.`);
      }
      if (moreViolations) lines.push("There are more than were read.");
      return lines.join("\n");
    }
  },
});

async function ask(api: Api, query: Query): Promise<Facts> {
  const overview = await api.get<Overview>(
    api.projectPath("overview"),
    ["environment", "configVersion", "customersSetAside", "events"],
    query,
  );
  const violations: SchemaViolation[] = [];
  let cursor: string | null = null;
  const version = overview.data.configVersion;
  for (let pages = 0; version !== null && pages < PAGES_MAX && (pages === 0 || cursor !== null); pages += 1) {
    const { data: page }: Answer<Page<SchemaViolation>> = await api.get(
      api.projectPath("schema-violations"),
      ["data", "nextCursor"],
      { ...query, version, limit: PAGE, cursor: cursor ?? undefined },
    );
    violations.push(...page.data);
    cursor = page.nextCursor;
  }
  return { overview: overview.data, violations, moreViolations: cursor !== null };
}

function columns(out: Out): Column<SchemaViolation>[] {
  return [
    { title: "Event", value: ({ event }) => event ?? "" },
    { title: "Code", value: ({ code }) => code },
    { title: "Path", value: ({ path }) => path },
    { title: "Operations", value: ({ operations }) => number(operations), align: "right", fixed: true },
    { title: "Last seen", value: ({ lastSeenAt }) => distance(lastSeenAt, out.now) },
    { title: "Example", value: example },
  ];
}

/** The customer first: where the terminal is narrow, the end is cut. */
function example({ lastCustomerId, lastEventId }: SchemaViolation): string {
  return [lastCustomerId, lastEventId].filter((id) => id !== null).join(", ");
}
