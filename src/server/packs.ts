import type { Argv } from "yargs";
import { installPack, listPacks, removePack, type Pack } from "../db/migrate/packs.js";
import type { ServerConfig } from "./config.js";
import { lookAtDatabase, onDatabase } from "./database.js";
import type { Logger } from "./log.js";

/** `svc-server packs …` */
export const packsCommands = (configure: () => [ServerConfig, Logger]) => (command: Argv) => {
  const json = { type: "boolean", default: false, describe: "Print JSON" } as const;
  const name = { type: "string", demandOption: true, describe: "Name of the pack, as packs list shows it" } as const;
  return command
    .command(
      "list",
      "List the packs, and which of them the database has",
      (list) => list.option("json", json),
      async ({ json }) => listPacksCommand(...configure(), { json }),
    )
    .command(
      "up <name>",
      "Install a pack, or bring it to this version",
      (up) => up.positional("name", name).option("json", json).example("svc-server packs up reporting", ""),
      async ({ name, json }) => changePackCommand(...configure(), { name, json, direction: "up" }),
    )
    .command(
      "down <name>",
      "Take a pack away, with all that it holds",
      (down) => down.positional("name", name).option("json", json),
      async ({ name, json }) => changePackCommand(...configure(), { name, json, direction: "down" }),
    )
    .demandCommand(1, "Name a command of packs: list, up or down.");
};

/** `svc-server packs list`: one line each. */
async function listPacksCommand(config: ServerConfig, logger: Logger, { json }: { json: boolean }): Promise<void> {
  const packs = await lookAtDatabase(config, logger, listPacks);
  const lines = packs.map((pack) => [pack.name, stateOf(pack), pack.about].join("\t"));
  process.stdout.write(json ? `${JSON.stringify(packs)}\n` : lines.map((line) => `${line}\n`).join(""));
}

function stateOf({ applied, migrations }: Pack): string {
  if (applied === 0) return "not installed";
  return applied === migrations ? "installed" : `behind: ${applied} of ${migrations} migrations`;
}

interface ChangeOptions {
  name: string;
  direction: "up" | "down";
  json: boolean;
}

async function changePackCommand(
  config: ServerConfig,
  logger: Logger,
  { name, direction, json }: ChangeOptions,
): Promise<void> {
  const change = direction === "up" ? installPack : removePack;
  // A pack stands on what the service has.
  const migrations = await onDatabase(config, logger, (url) => change(url, name));
  process.stdout.write(json ? `${JSON.stringify({ name, migrations })}\n` : `${said(direction, name, migrations)}\n`);
}

function said(direction: "up" | "down", name: string, { length }: readonly string[]): string {
  if (length === 0)
    return direction === "up" ? `The pack ${name} is up to date.` : `The pack ${name} is not installed.`;
  return direction === "up" ? `The pack ${name} is installed.` : `The pack ${name} is gone.`;
}
