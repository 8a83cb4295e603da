import type { Argv } from "yargs";
import { installPack, listPacks, removePack, type Pack } from "../db/migrate/packs.js";
import { readDatabase, onDatabase } from "./database.js";
import { type Configure, jsonOption, print } from "./operator.js";

/** `svc-server packs …`: lists, installs and removes optional parts of the database, which build on the service's own. */
export const packsCommands = (configure: Configure) => (command: Argv) => {
  const json = jsonOption("Print JSON");
  const name = { type: "string", demandOption: true, describe: "Name of the pack, as packs list shows it" } as const;
  return command
    .command(
      "list",
      "List the packs, and whether the database has them",
      (list) => list.option("json", json),
      async ({ json }) => {
        const packs = await readDatabase(...configure(), listPacks);
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
        const line = migrations.length === 0 ? `The pack ${name} is up to date.` : `The pack ${name} is installed.`;
        print(json, JSON.stringify({ name, migrations }), [line]);
      },
    )
    .command(
      "down <name>",
      "Remove a pack with all its data",
      (down) => down.positional("name", name).option("json", json),
      async ({ name, json }) => {
        const migrations = await onDatabase(...configure(), (url) => removePack(url, name));
        const line = migrations.length === 0 ? `The pack ${name} is not installed.` : `The pack ${name} was removed.`;
        print(json, JSON.stringify({ name, migrations }), [line]);
      },
    )
    .demandCommand(1, "Name a command of packs: list, up or down.");
};

function stateOf({ applied, migrations }: Pack): string {
  if (applied === 0) return "not installed";
  return applied === migrations ? "installed" : `behind: ${applied} of ${migrations} migrations`;
}
