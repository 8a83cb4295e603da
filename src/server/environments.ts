import type { Argv } from "yargs";
import { call, callOn } from "../db/api/call.js";
import { onDatabase } from "./database.js";
import { exportEnvironment } from "./environments/export.js";
import { importEnvironment } from "./environments/import.js";
import { asOperator, type Configure, inClientTransaction, jsonOption, print } from "./operator.js";
import { resolveSecret } from "./secret.js";

/** `svc-server environments …`: moves an environment from one database to another, and deletes what remains in the first. */
export const environmentsCommands = (configure: Configure) => (command: Argv) =>
  endingCommands(movingCommands(command, configure), configure).demandCommand(
    1,
    "Name a command of environments: export, import, unfreeze or delete.",
  );

const organization = { type: "string", demandOption: true, describe: "Slug of the organization" } as const;
const project = { type: "string", demandOption: true, describe: "Slug of the project" } as const;
const env = { choices: ["test", "live"] as const, demandOption: true, describe: "The environment" } as const;

function movingCommands(command: Argv, configure: Configure): Argv {
  return command
    .command(
      "export",
      "Freeze an environment and write all its data to a file",
      (make) =>
        make
          .options({ organization, project, env })
          .option("output", { type: "string", demandOption: true, describe: "The file to write" })
          .option("json", jsonOption("Print what was exported as JSON"))
          .example(
            "svc-server environments export --organization acme --project shop --env live --output shop.export",
            "",
          ),
      async ({ organization, project, env, output, json }) => {
        const ref = { organization, project, environment: env };
        const note = (sentence: string) => void process.stderr.write(`note: ${sentence}\n`);
        const { header, trailer } = await onDatabase(...configure(), (url) =>
          exportEnvironment(url, ref, output, note),
        );
        const result = { export: header.export, output, rows: trailer.rows, sha256: trailer.sha256 };
        print(json, JSON.stringify(result), [
          `${output} has ${inWords(trailer.rows)} of ${organization}/${project}, ${env}.`,
          "The environment is frozen here: it accepts, evaluates and delivers nothing. Import the file elsewhere, or cancel the move:",
          `svc-server environments unfreeze --organization ${organization} --project ${project} --env ${env}`,
        ]);
      },
    )
    .command(
      "import <file>",
      "Create an environment from an exported file; it starts working at once",
      (make) =>
        make
          .positional("file", { type: "string", demandOption: true, describe: "File written by environments export" })
          .options({ organization, project })
          .option("json", jsonOption("Print what was imported as JSON"))
          .example("svc-server environments import shop.export --organization acme --project shop", ""),
      async ({ file, organization, project, json }) => {
        const [config, logger] = configure();
        const { header, rows, wasThere } = await onDatabase(config, logger, async (url) =>
          // Only now: if there is no database, no secret is made either.
          importEnvironment(url, file, { organization, project }, await resolveSecret(config)),
        );
        const place = `${organization}/${project}, ${header.environment.name}`;
        print(json, JSON.stringify({ export: header.export, environment: header.environment.name, rows, wasThere }), [
          wasThere
            ? `${place} was imported from this file before. Nothing has changed.`
            : `${place} has ${inWords(rows)}. It accepts events, evaluates and delivers from now on; send events to this service.`,
        ]);
      },
    );
}

/** Commands that end the freeze: `unfreeze` resumes the environment here, `delete` removes its data. */
function endingCommands(command: Argv, configure: Configure): Argv {
  return command
    .command(
      "unfreeze",
      "Unfreeze an environment whose move was cancelled",
      (make) => make.options({ organization, project, env }).option("json", jsonOption("Print {frozenAt}")),
      async ({ organization, project, env, json }) => {
        const ref = { project, environment: env };
        const { frozenAt } = await asOperator(...configure(), (sql) =>
          call(sql, "operator_unfreeze_environment", organization, ref),
        );
        const place = `${organization}/${project}, ${env}`;
        print(json, JSON.stringify({ frozenAt }), [
          frozenAt === null
            ? `${place} is not frozen.`
            : `${place} is active again; it was frozen since ${frozenAt}. Do not import the file that was exported.`,
        ]);
      },
    )
    .command(
      "delete",
      "Delete all data of a frozen environment here, for example after a move",
      (make) =>
        make.options({ organization, project, env }).option("json", jsonOption("Print what was deleted as JSON")),
      async ({ organization, project, env, json }) => {
        const [config, logger] = configure();
        const { rows } = await onDatabase(config, logger, (url) =>
          inClientTransaction(url, "", (client) =>
            callOn(client, "operator_delete_environment", organization, { project, environment: env }),
          ),
        );
        print(json, JSON.stringify({ rows }), [
          `Deleted ${inWords(rows)} of ${organization}/${project}, ${env}, with its keys and webhooks. The environment is empty and no longer frozen.`,
        ]);
      },
    );
}

function inWords({ events, customers }: Record<string, number>): string {
  return `${events} events and ${customers} customers`;
}
