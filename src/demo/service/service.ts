/** The demo's service process: a child with a separate data directory, restarted if it is killed. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { DemoFailure, messageOf } from "../failure.js";

/** The package's folder: this file lies three levels below it, in `src` as in `dist`. */
export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");
export const SERVER_PROGRAM = path.join(ROOT, "bin", "svc-server.js");
export const CLI_PROGRAM = path.join(ROOT, "bin", "svc.js");
export const EXAMPLE_MODEL = path.join(ROOT, "examples", "saas");

/**
 * The URL of the embedded PostgreSQL in a data directory, with its superuser's password: the password is stored beside the cluster, and the
 * fourth line of postmaster.pid is the port. For a person at this machine, not for a log.
 */
export async function databaseUrl(dataDir: string): Promise<string> {
  const home = path.join(dataDir, "postgres");
  const password = (await readFile(path.join(home, "password"), "utf8")).trim();
  const port = (await readFile(path.join(home, "data", "postmaster.pid"), "utf8")).split("\n")[3]?.trim() ?? "5432";
  return `postgres://svc:${encodeURIComponent(password)}@127.0.0.1:${port}/svc`;
}

export interface ServiceOptions {
  dataDir: string;
  logFile: string;
  /** Called once the service answers again, with how it had ended. */
  onRestart: (how: string) => void;
  /** The role of the process; all unless given. */
  role?: "all" | "http" | "worker";
  /** Further environment variables, read at each launch. */
  environment?: () => Record<string, string>;
}

const READY_LINE = /^svc-server (?:working|listening on (https?:\/\/\S+))$/;
const READY_WITHIN_MS = 120_000;
/** Time for requests and jobs to end, and for the database to stop. */
const STOP_WITHIN_MS = 30_000;
/** A service that dies again and again is broken, not unlucky. */
const RESTARTS_MAX = 5;
const RESTART_AFTER_MS = 500;

/**
 * History counts as complete after this many seconds without more of it: few, to keep the demo short; more after a restart, as the downtime
 * must not count.
 */
const SETTLE_SECONDS = 10;
const SETTLE_SECONDS_AFTER_RESTART = 30;

export class Service {
  readonly #lost = new AbortController();
  /** Aborted, with the reason, when the service is lost for good. */
  readonly lost = this.#lost.signal;
  restarts = 0;
  #url = "";
  #child: ChildProcess | null = null;
  #stopping = false;

  private constructor(private readonly options: ServiceOptions) {}

  /** Starts the service on a free port and resolves when it is ready. */
  static async start(options: ServiceOptions): Promise<Service> {
    const service = new Service(options);
    try {
      service.#url = await service.#launch("0", SETTLE_SECONDS);
    } catch (error) {
      await service.stop();
      throw error;
    }
    return service;
  }

  /** The service's address, without a trailing slash. The same after a restart; empty for a worker. */
  get url(): string {
    return this.#url;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Creates the organization, its owner and a token, with the service's own command on the same data directory. */
  async bootstrap(organization: string, email: string): Promise<{ organizationId: string; accessToken: string }> {
    const args = [SERVER_PROGRAM, "bootstrap", "--organization", organization, "--email", email, "--json"];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: this.#environment() }).catch(
      (error: unknown) => {
        const detail = (error as { stderr?: string }).stderr?.trim().split("\n").at(-1);
        throw new DemoFailure(`svc-server bootstrap failed: ${detail ?? messageOf(error)}`, 1, { cause: error });
      },
    );
    return JSON.parse(stdout) as { organizationId: string; accessToken: string };
  }

  /** A link that signs a browser in as a user, once. */
  async signInLink(email: string): Promise<string> {
    const args = [SERVER_PROGRAM, "users", "sign-in", "--email", email, "--json"];
    const env = { ...this.#environment(), SVC_PUBLIC_URL: this.url };
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    return (JSON.parse(stdout) as { link: string }).link;
  }

  /** Stops the service gracefully, by force after STOP_WITHIN_MS, and waits until it has ended. Safe to call twice. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    const killTimer = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN_MS);
    await exited;
    clearTimeout(killTimer);
  }

  /** The last lines of the service's log, for an error message. */
  async lastWords(): Promise<string> {
    const log = await readFile(this.options.logFile, "utf8").catch(() => "");
    return log.trim().split("\n").slice(-3).join(" | ");
  }

  /** Resolves with the address once the process reports that it is ready; rejects if it ends before. */
  async #launch(port: string, settleSeconds: number): Promise<string> {
    const log = openSync(this.options.logFile, "a");
    const child = spawn(process.execPath, [SERVER_PROGRAM, "start", "--role", this.options.role ?? "all"], {
      env: this.#environment({ SVC_PORT: port, SVC_SETTLE_SECONDS: String(settleSeconds) }),
      stdio: ["ignore", "pipe", log],
      // A separate process group: Ctrl+C reaches only the demo, which then stops the service gracefully.
      detached: true,
    });
    closeSync(log);
    this.#child = child;
    const url = await readyUrl(child).catch(async (error: unknown) => {
      child.kill("SIGKILL");
      throw new DemoFailure(`the service did not start: ${messageOf(error)} | ${await this.lastWords()}`, 1, {
        cause: error,
      });
    });
    child.once("exit", (code, signal) => void this.#restart(signal ?? `exit code ${code}`));
    // The process may have ended since its ready line.
    if (child.exitCode !== null || child.signalCode !== null)
      void this.#restart(child.signalCode ?? `exit code ${child.exitCode}`);
    return url;
  }

  /** Restarts the process like a supervisor. A failed start is retried, for example if the database is temporarily unavailable. */
  async #restart(how: string): Promise<void> {
    let failure: unknown;
    while (!this.#stopping && this.restarts < RESTARTS_MAX) {
      this.restarts++;
      try {
        await this.#launch(this.#url === "" ? "0" : new URL(this.#url).port, SETTLE_SECONDS_AFTER_RESTART);
        this.options.onRestart(how);
        return;
      } catch (error) {
        failure = error;
        await delay(RESTART_AFTER_MS);
      }
    }
    // A start that failed because the service is to stop is no loss.
    if (this.#stopping) return;
    const detail = failure === undefined ? await this.lastWords() : messageOf(failure);
    this.#lost.abort(new DemoFailure(`the service ended ${RESTARTS_MAX + 1} times: ${detail}`, 1, { cause: failure }));
  }

  /** This process's environment without variables that would give the service another database or other settings. */
  #environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
    const kept = Object.entries(process.env).filter(([name]) => name !== "DATABASE_URL" && !name.startsWith("SVC_"));
    return {
      LOG_LEVEL: "warn",
      ...Object.fromEntries(kept),
      SVC_DATA_DIR: this.options.dataDir,
      SVC_WEBHOOK_ALLOW_PRIVATE: "1",
      ...more,
      ...this.options.environment?.(),
    };
  }
}

/** The address in the line with which a child reports that it is ready. Later output is discarded, so that the pipe never fills up. */
function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready within ${READY_WITHIN_MS / 1_000} s`)), READY_WITHIN_MS);
    const ended = (code: number | null, signal: string | null) =>
      fail(new Error(`it ended with ${signal ?? `exit code ${code}`}`));
    const fail = (error: Error) => {
      clearTimeout(timer);
      reject(error);
    };
    child.once("error", fail).once("exit", ended);
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on("line", (line) => {
      const ready = READY_LINE.exec(line);
      if (ready === null) return;
      clearTimeout(timer);
      child.off("exit", ended).off("error", fail);
      resolve(ready[1] ?? "");
    });
  });
}
