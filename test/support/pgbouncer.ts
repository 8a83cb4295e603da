import { spawn } from "node:child_process";
import { once } from "node:events";
import { chown, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import { vi } from "vitest";
import { serverAccount } from "../../src/db/embedded/account.js";
import { installed } from "./debian.js";
import { temporaryDirectory } from "./server.js";
import { freePort } from "./free-port.js";

const PROGRAM = "/usr/sbin/pgbouncer";
const CONFIGURATION = new URL("../../deploy/pgbouncer.ini", import.meta.url);

/** A PgBouncer in front of a database. */
export interface PgBouncer {
  /** The database's URL through PgBouncer, for one of its users. */
  urlOf(user: string): string;
  /** Leads new sessions to a database of this name. */
  leadTo(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** Makes sure that PgBouncer can be started; returns null, or the reason why it cannot. Installs it if we may. */
export function pgBouncerMissing(): Promise<string | null> {
  return installed(PROGRAM, ["pgbouncer"]);
}

/**
 * Starts PgBouncer with deploy/pgbouncer.ini, except for addresses and `settings`; as in production, not as root.
 *
 * @param databaseUrl the database, whose name is the same at the pooler
 * @param users passwords by user name
 */
export async function startPgBouncer(
  databaseUrl: string,
  users: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<PgBouncer> {
  const directory = await temporaryDirectory();
  const at = new URL(databaseUrl);
  const name = at.pathname.slice(1);
  const port = await freePort();
  const account = await serverAccount();
  const passwords = path.join(directory, "userlist.txt");
  const changes = {
    listen_port: port,
    auth_file: passwords,
    ...settings,
  };
  let text = await readFile(CONFIGURATION, "utf8");
  text = text.replace(/^svc = .*$/m, `${name} = host=${at.hostname} port=${at.port || 5432} dbname=${name}`);
  for (const [setting, value] of Object.entries(changes)) {
    const [line, changed] = [new RegExp(`^${setting} = .*$`, "m"), `${setting} = ${value}`];
    text = line.test(text) ? text.replace(line, changed) : `${text}${changed}\n`;
  }
  // Debian's directories may not exist, or belong to another user.
  text += `unix_socket_dir =\nlogfile = ${path.join(directory, "pgbouncer.log")}\n`;
  const file = path.join(directory, "pgbouncer.ini");
  await writeFile(file, text);
  const lines = Object.entries(users).map(([user, password]) => `"${user}" "${password}"\n`);
  await writeFile(passwords, lines.join(""), { mode: 0o600 });
  if (account !== null) for (const owned of [directory, passwords]) await chown(owned, account.uid, account.gid);

  const child = spawn(PROGRAM, ["--quiet", file], {
    stdio: "ignore",
    ...(account === null ? {} : { uid: account.uid, gid: account.gid }),
  });
  const ended = once(child, "exit");
  const stop = async () => {
    child.kill("SIGTERM"); // ends it at once
    await ended;
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await vi.waitFor(() => reach(port), { timeout: 20_000, interval: 50 });
  } catch (error) {
    const log = await readFile(path.join(directory, "pgbouncer.log"), "utf8").catch(() => "");
    await stop();
    throw new Error(`PgBouncer does not listen: ${log}`, { cause: error });
  }
  return {
    leadTo: async (to) => {
      text = text.replace(/ dbname=\S+$/m, ` dbname=${to}`);
      await writeFile(file, text);
      child.kill("SIGHUP");
    },
    urlOf: (user) => `postgres://${user}:${users[user] ?? ""}@127.0.0.1:${port}/${name}`,
    stop,
  };
}

async function reach(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
  } finally {
    socket.destroy();
  }
}
