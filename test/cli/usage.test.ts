import { describe, expect, test } from "vitest";

import { parseCommandLine } from "../../src/cli/core/adapter.js";
import { optionName } from "../../src/cli/core/values.js";
import { commands } from "../../src/cli/core/registry.js";
import { svc } from "./support/run-svc.js";

const values = async (...argv: string[]) => {
  const parsed = await parseCommandLine(argv, { width: 100, version: "0" });
  return parsed.kind === "run" ? parsed.values : parsed;
};

describe("help", () => {
  test("without a command or its verb, the help goes to standard error and the command fails", async () => {
    const { code, stdout, stderr } = await svc([]);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: (await svc(["--help"])).stdout });
    expect(stderr.slice(0, stderr.indexOf("Shared options:"))).toMatchInlineSnapshot(`
      "svc <command>: events in, customers' states out

      Commands:
        svc whoami              Show the user, the organization and the API
        svc console             Open the console in a browser, signed in as you are here
        svc init                Create a project, and a starter model for it in an empty directory
        svc validate            Check the local model; deploys nothing
        svc dev                 Run the local model in memory and try it with events; needs no database
                                and no key
        svc deploy              Validate the local model and deploy it as a new version
        svc backtest            Test on past data whether a model predicts an outcome; changes nothing
        svc recompute           Replay history under the active model, or only show what that would change
        svc types               Print TypeScript types of the active model's events and traits
        svc overview            Show the lifecycle's funnel, the segments' sizes and the totals
        svc trends [what]       Show how an environment developed, by day, week or month
        svc diagnose            Check configuration and data for common problems; findings are no failure
        svc mcp                 Serve facts to an assistant, such as Claude Desktop or Cursor, which
                                starts this command
        svc completion <shell>  Print a completion script for bash, zsh or fish
        svc audit               Show what was changed in the organization, and by whom
        svc usage               Show what the organization has used of its plan
        svc ai                  Facts, and a language model's explanation of them
        svc auth                Signing in and out
        svc config              Versions of the deployed model
        svc customers           Customers and their computed states
        svc emissions           Changes and rule events that evaluation emitted
        svc events              Product events
        svc health              Health scores
        svc invitations         Invitations to the organization
        svc journeys            Customers' progress in journeys
        svc keys                Ingestion keys of an environment
        svc members             Members of the organization
        svc organization        The organization
        svc projects            Projects of the organization
        svc rules               Runs of rules
        svc segments            Segments and their members
        svc signals             Raised signals
        svc tokens              Access tokens of the organization, for pipelines and scripts
        svc webhooks            Endpoints that receive emissions

      "
    `);
    const noun = await svc(["customers"]);
    expect(noun.code).toBe(2);
    expect(noun.stderr).toContain("svc customers inspect <customerId>");
  });

  test("on request, the help goes to standard output with the options and an example", async () => {
    expect(await svc(["segments", "inspect", "--help"])).toMatchInlineSnapshot(`
      svc segments inspect <segmentId>

      Show a segment's size and its members

      Positionals:
        segmentId  The segment's id                                                    [string] [required]

      Options:
            --project   The project's slug; unless given, that of .kite/config.json               [string]
            --customer  Instead of the members, show whether this customer is one, and why        [string]
            --at        As of an instant: a date, a date-time, or how long ago, such as 30d       [string]
            --limit     How many to show                                            [string] [default: 50]
            --cursor    Continue where the previous page ended                                    [string]
            --csv       Print the whole list as CSV, ignoring --limit                            [boolean]

      Shared options:
        -h, --help       Show help                                                               [boolean]
            --version    Show version number                                                     [boolean]
            --directory  The project's directory; the current one unless given                    [string]
            --env        The environment: test or live; unless given, the project's default, or test
                                                                                                  [string]
            --json       Print one JSON document, also for errors                                [boolean]
            --no-color   Print without colours; so does the variable NO_COLOR                    [boolean]
            --debug      Show stack traces                                                       [boolean]
            --no-ai      Disable the commands that ask a language model; so does SVC_NO_AI=1     [boolean]

      Examples:
        svc segments inspect power_users                    Its condition, statistics of its members, who
                                                            they are and since when
        svc segments inspect power_users --customer cus_42  Why a customer is in it, or is not
        svc segments inspect power_users --at 30d           Who was in it thirty days ago, and since when
    `);
  });

  test.each(commands)(
    "svc $path tells what it takes with an example, and takes --env as every command does",
    async (command) => {
      const { path, describe, args, load } = command;
      const { code, stdout } = await svc([...path.split(" "), "--help"]);
      expect(code).toBe(0);
      expect(stdout).toContain(describe);
      expect(stdout).toContain("Examples:\n");
      const loaded = await load();
      const taken = Object.entries(loaded.args ?? {}).map(([name, positional]) =>
        typeof positional === "object" && positional.optional ? `[${name}]` : `<${name}>`,
      );
      expect(args).toBe(taken.join(" "));
      const options = Object.entries(loaded.options ?? {}).flatMap(([key, option]) =>
        option.type === "text" && option.required ? [`--${optionName(key)}`, option.choices?.[0] ?? "v1"] : [],
      );
      const given = Object.values(loaded.args ?? {}).map((of) => (typeof of === "object" && of.choices?.[0]) || "x");
      expect(await values(...path.split(" "), ...given, ...options, "--env", "live")).toMatchObject({ env: "live" });
    },
  );

  test("--version prints the version", async () => {
    const { code, stdout } = await svc(["--version"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

test("arguments after -- are taken literally", async () => {
  expect(await values("customers", "inspect", "--project", "shop", "--", "-x")).toMatchObject({
    customerId: "-x",
    project: "shop",
  });
  expect(await values("health", "explain", "--", "--help")).toMatchObject({ customerId: "--help" });
  await expect(values("customers", "inspect", "--", "-x", "y")).rejects.toThrow('the argument "y" is one too many');
});

describe("a mistaken command line exits with 2 and says what was meant", () => {
  test.each([
    ["whomi"],
    ["customers inpect x"],
    ["inspect customers x"],
    ["costumers list"],
    ["completely-else"],
    ["whoami --jsn"],
    ["customers list --lifecylce trial"],
    ["whoami --debg"],
    ["whoami -q"],
    ["whoami x"],
    ["customers inspect"],
    ["events send"],
    ["events send signed_up"],
    ["projects create"],
    ["customers list --limit"],
    ["customers list --limit 0"],
    ["customers list --limit 1e1"],
    ["customers list --limit 5 --limit 6"],
    ["customers list --inactive soon"],
    ["deploy --env lve"],
    ["customers list --lifecycle="],
    ["events send signed_up --customer c --props [1]"],
    ["events send signed_up --customer c --props {"],
  ])("svc %s", async (line) => {
    const { code, stdout, stderr } = await svc(line.split(" "));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatchSnapshot();
  });

  test("with --json as a document on standard output", async () => {
    expect(await svc(["whomi", "--json"])).toMatchInlineSnapshot(`
      exit 2
      {"error":{"code":"USAGE","message":"there is no command \\"svc whomi\\"; did you mean \\"svc whoami\\"?","requestId":"cli_<random>","fix":"see \`svc --help\`"}}
    `);
    expect(await svc(["--json"])).toMatchInlineSnapshot(`
      exit 2
      {"error":{"code":"USAGE","message":"no command was given","requestId":"cli_<random>","fix":"see \`svc --help\`"}}
    `);
  });
});
