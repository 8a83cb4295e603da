/** An existing server, which is restarted with its own command line when it has ended. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile, readlink, stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { disownOther, findPostmaster } from "../../src/db/embedded/postmaster.js";
import { DemoFailure, messageOf } from "../../src/demo/failure.js";
import { Server, type ServerOptions } from "./server.js";

/** The delay of a typical supervisor. */
const RESTART_AFTER_MS = 500;
const POLL_MS = 100;

export class SupervisedServer extends Server {
  readonly #ended = new AbortController();
  #watch: Promise<void> | null = null;

  private constructor(
    options: ServerOptions,
    private readonly command: Command,
  ) {
    super(options);
  }

  /** Throws a DemoFailure with exit code 2 if no server runs on the directory, or we may not start it. */
  static async open(options: ServerOptions): Promise<SupervisedServer> {
    const server = new SupervisedServer(options, await readCommand(options.data));
    server.#watch = server.#supervise();
    return server;
  }

  /** Stops supervising, once the server runs. */
  async leave(): Promise<void> {
    this.#ended.abort();
    await this.#watch;
  }

  async #supervise(): Promise<void> {
    const { data } = this.options;
    for (;;) {
      if ((await findPostmaster(this.options)) === null) {
        await delay(RESTART_AFTER_MS);
        await disownOther(this.options);
        await start(this.command, data);
      } else if (this.#ended.signal.aborted) return;
      else await delay(POLL_MS, undefined, { signal: this.#ended.signal }).catch(() => undefined);
    }
  }
}

interface Command {
  file: string;
  args: string[];
  /** Owner of the files: the server refuses to run as another user. */
  uid: number;
  gid: number;
  /** The file of its output; null if there is none, because it collects its log itself. */
  log: string | null;
}

async function readCommand(data: string): Promise<Command> {
  const refuse = (why: string) =>
    new DemoFailure(`${data}: ${why}; --nodes takes the data directories of servers that run on this machine`, 2);
  const opts = await readFile(path.join(data, "postmaster.opts"), "utf8").catch((error: unknown) => {
    throw refuse(messageOf(error));
  });
  const running = await findPostmaster({ data });
  if (running === null) throw refuse("no server runs on it");
  const { uid, gid } = await stat(data);
  const own = process.geteuid?.();
  if (own !== 0 && own !== uid) throw refuse("it belongs to another user, so only root can restart its server");
  const { file, args } = parseOptions(opts);
  // A pipe or a terminal cannot be reopened.
  const log = await readlink(`/proc/${running.pid}/fd/2`).catch(() => "");
  const isFile = log.startsWith("/") && (await stat(log).catch(() => null))?.isFile() === true;
  return { file, args, uid, gid, log: isFile ? log : null };
}

/** Parses `postmaster.opts`: the program, and each argument in quotes. */
export function parseOptions(text: string): { file: string; args: string[] } {
  const [file = "", ...args] = [...text.matchAll(/"([^"]*)"|([^\s"]+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
  return { file, args };
}

/** Starts a server; resolves once it accepts connections, or has ended, because leftovers of the last server may prevent a start for a moment. */
async function start({ file, args, uid, gid, log }: Command, data: string): Promise<void> {
  const handle = log === null ? null : await open(log, "a");
  const { PATH, TZ } = process.env;
  const output = handle?.fd ?? "ignore";
  const server = spawn(file, args, {
    uid,
    gid,
    // Another user may not be allowed to enter our directory, and our variables must not influence the server.
    cwd: "/",
    env: { PATH, TZ, LC_ALL: "C" },
    stdio: ["ignore", output, output],
    // It outlives the run and does not receive Ctrl+C.
    detached: true,
  });
  await handle?.close();
  const ended = new AbortController();
  void once(server, "exit")
    .finally(() => ended.abort())
    .catch(() => undefined);
  server.unref();
  while (!ended.signal.aborted && (await findPostmaster({ data }))?.status !== "ready")
    await delay(POLL_MS, undefined, { signal: ended.signal }).catch(() => undefined);
}
