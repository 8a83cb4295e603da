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
    expect(stderr).toMatch(
      /^svc <command>: [^]*\nCommands:\n {2}svc whoami +Show the user, the organization and the API\n/,
    );
    const noun = await svc(["customers"]);
    expect(noun.code).toBe(2);
    expect(noun.stderr).toContain("svc customers inspect <customerId>");
  });

  test("on request, the help goes to standard output with the options and an example", async () => {
    expect(await svc(["health", "explain", "--help"])).toMatchInlineSnapshot(`
      svc health explain <customerId>

      Show what a customer's health score is made of

      Positionals:
        customerId  The customer's id                                                  [string] [required]

      Options:
            --project  The project's slug; unless given, that of .kite/config.json                [string]

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
        svc health explain cus_42  Each component: what it measures, the measured value, and its points
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
      for (const option of Object.values(loaded.options ?? {}))
        if (option.type === "integer" && option.default !== undefined)
          expect(stdout).toContain(`[default: ${option.default}]`);
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
    // Node.js since 22 says more about invalid JSON.
    expect(stderr.replace(" (line 1 column 2)", "")).toMatchSnapshot();
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
