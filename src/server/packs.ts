import type { Argv } from "yargs";
import { installPack, listPacks, removePack, type Pack } from "../db/migrate/packs.js";
import { lookAtDatabase, onDatabase } from "./database.js";
import { type Configure, jsonOption, print } from "./operator.js";

/** `svc-server packs …`: the optional parts of the database, one line each; a pack stands on what the service has. */
export const packsCommands = (configure: Configure) => (command: Argv) => {
  const json = jsonOption("Print JSON");
  const name = { type: "string", demandOption: true, describe: "Name of the pack, as packs list shows it" } as const;
  return command
    .command(
      "list",
      "List the packs, and which of them the database has",
      (list) => list.option("json", json),
      async ({ json }) => {
        const packs = await lookAtDatabase(...configure(), listPacks);
        const lines = packs.map((pack) => [pack.name, stateOf(pack), pack.about].join("\t"));
        print(json, JSON.stringify(packs), lines);
      },
    )
    .command(
      "up <name>",
      "Install a pack, or bring it to this version",
      (up) => up.positional("name", name).option("json", json).example("svc-server packs up citus", ""),
      async ({ name, json }) => {
        const migrations = await onDatabase(...configure(), (url) => installPack(url, name));
        const said = migrations.length === 0 ? `The pack ${name} is up to date.` : `The pack ${name} is installed.`;
        print(json, JSON.stringify({ name, migrations }), [said]);
      },
    )
    .command(
      "down <name>",
      "Take a pack away, with all that it holds",
      (down) => down.positional("name", name).option("json", json),
      async ({ name, json }) => {
        const migrations = await onDatabase(...configure(), (url) => removePack(url, name));
        const said = migrations.length === 0 ? `The pack ${name} is not installed.` : `The pack ${name} is gone.`;
        print(json, JSON.stringify({ name, migrations }), [said]);
      },
    )
    .demandCommand(1, "Name a command of packs: list, up or down.");
};

function stateOf({ applied, migrations }: Pack): string {
  if (applied === 0) return "not installed";
  return applied === migrations ? "installed" : `behind: ${applied} of ${migrations} migrations`;
}
