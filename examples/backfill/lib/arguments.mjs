import { basename, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Mistake } from "./mistake.mjs";

export const USAGE = `node backfill.mjs <file | -> [options]        a file, or standard input
node backfill.mjs --command "psql --csv …" [options]

  --format csv|jsonl       unless given, by the file's name; csv for a command and standard input
  --mapping <file>         what a row is to the service; mapping.mjs unless given
  --name <name>            names the source in the checkpoint; the file's name unless given
  --checkpoint <file>      <name>.checkpoint.json unless given
  --skip-rejected <file>   send the other rows where some cannot be sent, and keep these here, each with its reason
  --any-order              send events that come before earlier ones of the same customer, too
  --total <rows>           how many there are, where they are not in a file
  --sum <property>         a property of events to add up, to compare afterwards
  --batch <operations>     per request, 1,000 unless given
  --tries <number>         of a request without an answer, 10 unless given
  --check                  read and map everything, and send nothing
  --recompute dry-run|run  afterwards, tell what reading the histories again changes, or also do it; with --project
  --project <slug>

SVC_API_URL and SVC_API_KEY say where to; --project needs SVC_ACCESS_TOKEN and SVC_ORGANIZATION.
`;

/** What was asked for. Throws a Mistake where that makes no sense. */
export function readArguments(argv, env) {
  const { values, positionals } = parse(argv);
  if (values.help) return { help: true };
  const { command = null, project = null, recompute = null } = values;
  if (positionals.length + (command === null ? 0 : 1) !== 1)
    throw new Mistake("name one source: a file, - or --command; see --help");
  const [file = null] = positionals;
  const isFile = file !== null && file !== "-";
  const name = values.name ?? (isFile ? basename(file) : undefined);
  if (name === undefined)
    throw new Mistake("name the source with --name, so that its checkpoint can be told from others");
  const format = values.format ?? (/\.(jsonl|ndjson)$/.test(file ?? "") ? "jsonl" : "csv");
  if (format !== "csv" && format !== "jsonl") throw new Mistake("--format is csv or jsonl");
  if (recompute !== null && recompute !== "dry-run" && recompute !== "run")
    throw new Mistake("--recompute is dry-run or run");
  if (recompute !== null && project === null) throw new Mistake("--recompute needs --project");
  return {
    source: { name, format, file, command },
    isFile,
    mapping: resolve(values.mapping ?? resolve(import.meta.dirname, "../mapping.mjs")),
    checkpoint: values.checkpoint ?? `${name.replaceAll(/[^\w.-]/g, "_")}.checkpoint.json`,
    skipRejected: values["skip-rejected"] ?? null,
    anyOrder: values["any-order"] ?? false,
    total: whole(values.total, "--total", 1, Number.MAX_SAFE_INTEGER) ?? null,
    sum: values.sum,
    batch: whole(values.batch, "--batch", 1, 1_000) ?? 1_000,
    tries: whole(values.tries, "--tries", 1, 1_000) ?? 10,
    isCheck: values.check ?? false,
    recompute,
    target: values.check ? null : target(env, project),
  };
}

function parse(args) {
  const text = { type: "string" };
  const flag = { type: "boolean" };
  const options = {
    ...{
      format: text,
      mapping: text,
      name: text,
      checkpoint: text,
      command: text,
      total: text,
      sum: text,
      batch: text,
    },
    ...{
      tries: text,
      recompute: text,
      project: text,
      "skip-rejected": text,
      "any-order": flag,
      check: flag,
      help: flag,
    },
  };
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new Mistake(`${error.message.split(". ")[0]}; see --help`);
  }
}

function target(env, project) {
  const url = variable(env, "SVC_API_URL").replace(/\/+$/, "");
  if (!/^https?:\/\/./.test(url) || !URL.canParse(url)) throw new Mistake(`SVC_API_URL is no address: ${url}`);
  const apiKey = credential(env, "SVC_API_KEY");
  const environment = apiKey.startsWith("svc_live_") ? "live" : "test";
  if (project === null) return { url, apiKey, environment, admin: null };
  const admin = {
    project,
    token: credential(env, "SVC_ACCESS_TOKEN"),
    organization: variable(env, "SVC_ORGANIZATION"),
  };
  return { url, apiKey, environment, admin };
}

function variable(env, name) {
  const value = env[name]?.trim() ?? "";
  if (value === "") throw new Mistake(`set ${name}; see --help`);
  return value;
}

/** What no header can have would be told by fetch, with the secret in the message. */
function credential(env, name) {
  const value = variable(env, name);
  if (!/^[\x21-\x7e]+$/.test(value)) throw new Mistake(`${name} has a character that none of the service has`);
  return value;
}

function whole(value, option, least, most) {
  if (value === undefined) return undefined;
  if (!/^\d+$/.test(value) || Number(value) < least || Number(value) > most)
    throw new Mistake(`${option} is a whole number from ${least}${most > 1_000 ? "" : ` to ${most}`}`);
  return Number(value);
}
