import { randomUUID } from "node:crypto";

import { parse } from "./adapter.js";
import { Api } from "../client/api.js";
import type { Context } from "./command.js";
import { UsageError } from "./errors.js";
import { reportFailure } from "./failure.js";
import { type Io, Out } from "../output/out.js";
import { commands, nouns } from "./registry.js";
import { SessionStore } from "../client/session.js";
import { Settings } from "./settings.js";
import { version } from "./version.js";

const HELP_COLUMNS_MAX = 120;
const HELP_COLUMNS = 100;

/**
 * Runs one command line.
 *
 * @param argv without the names of the program.
 * @returns the exit code: 0 done, 1 failed, 2 the command line is wrong.
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const requestId = `cli_${randomUUID().replaceAll("-", "").slice(0, 20)}`;
  // A command line that cannot be understood has to be complained about as it asks for.
  const end = argv.indexOf("--");
  const said = new Set(end < 0 ? argv : argv.slice(0, end));
  let out = new Out(io, { json: said.has("--json"), noColor: said.has("--no-color") });
  let debug = said.has("--debug");
  try {
    const width = Math.min(io.stdout.isTTY === true ? (io.stdout.columns ?? 80) : HELP_COLUMNS, HELP_COLUMNS_MAX);
    const parsed = await parse(argv, { width, version: version() });
    if (parsed.kind === "print") {
      out.print(parsed.text);
      return 0;
    }
    if (parsed.kind === "incomplete") {
      if (out.json) throw new UsageError("no command was given", "see `svc --help`");
      out.note(parsed.text);
      return 2;
    }
    const values = parsed.values as unknown as SharedValues;
    out = new Out(io, values);
    debug = values.debug;
    await parsed.command.handler(await context(io, out, values, requestId), parsed.values as never);
    return 0;
  } catch (error) {
    return await reportFailure(out, error, requestId, debug);
  }
}

interface SharedValues {
  json: boolean;
  noColor: boolean;
  debug: boolean;
  directory?: string;
  env?: string;
  project?: string;
  noAi: boolean;
}

async function context(io: Io, out: Out, values: SharedValues, requestId: string): Promise<Context> {
  const { directory, env: environment, project } = values;
  const settings = new Settings(io, new SessionStore(await io.configDirectory()), { directory, environment, project });
  const aiForbiddenBy = values.noAi ? "--no-ai" : isSet(io.env["SVC_NO_AI"]) ? "SVC_NO_AI" : null;
  return { io, out, settings, api: new Api(settings, requestId), aiForbiddenBy, registry: { commands, nouns } };
}

/** Whether a variable that is a switch is on: whoever sets it to anything but 0 means it. */
function isSet(variable: string | undefined): boolean {
  return variable !== undefined && !["", "0", "false"].includes(variable);
}
